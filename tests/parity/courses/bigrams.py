"""A bigram model of names: by counting, then as a neural network trained by gradient descent; samples of both."""

import torch
import torch.nn.functional as F

names = "emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily ella elizabeth"
words = names.split(" ")
chars = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
V = len(stoi)

N = torch.zeros((V, V), dtype=torch.int32)
for w in words:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        N[stoi[ch1], stoi[ch2]] += 1

P = (N + 1).float()
P /= P.sum(1, keepdims=True)
g = torch.Generator().manual_seed(2147483647)
for _ in range(3):
    out, ix = [], 0
    while True:
        ix = torch.multinomial(P[ix], num_samples=1, replacement=True, generator=g).item()
        out.append(itos[ix])
        if ix == 0:
            break
    print("".join(out))

log_likelihood, n = 0.0, 0
xs, ys = [], []
for w in words:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        ix1, ix2 = stoi[ch1], stoi[ch2]
        log_likelihood += torch.log(P[ix1, ix2])
        n += 1
        xs.append(ix1)
        ys.append(ix2)
print(f"{log_likelihood=} {-log_likelihood / n}")

xs, ys = torch.tensor(xs), torch.tensor(ys)
num = xs.nelement()
W = torch.randn((V, V), generator=g, requires_grad=True)
for k in range(40):
    xenc = F.one_hot(xs, num_classes=V).float()
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(num), ys].log().mean() + 0.01 * (W**2).mean()
    if k % 10 == 0:
        print(k, loss.item())
    W.grad = None
    loss.backward()
    W.data += -30 * W.grad

g.manual_seed(1)
ix, out = 0, []
while len(out) < 12:
    p = F.softmax(F.one_hot(torch.tensor([ix]), num_classes=V).float() @ W, dim=1)
    ix = torch.multinomial(p, num_samples=1, generator=g).item()
    out.append(itos[ix])
print("".join(out))
