"""A model of names from three letters of context, with embeddings, good initial weights and batch norm by hand."""

import torch
import torch.nn.functional as F

names = "emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily ella elizabeth"
words = names.split(" ")
chars = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(chars)} | {".": 0}
itos = {i: s for s, i in stoi.items()}
vocab_size, block_size = len(itos), 3


def build_dataset(words):
    X, Y = [], []
    for w in words:
        context = [0] * block_size
        for ch in w + ".":
            X.append(context)
            Y.append(stoi[ch])
            context = context[1:] + [stoi[ch]]
    return torch.tensor(X), torch.tensor(Y)


Xtr, Ytr = build_dataset(words[:11])
Xdev, Ydev = build_dataset(words[11:])
print(Xtr.shape, Xtr.dtype, Ytr[:5])

n_embd, n_hidden = 4, 24
g = torch.Generator().manual_seed(2147483647)
C = torch.randn((vocab_size, n_embd), generator=g)
W1 = torch.randn((n_embd * block_size, n_hidden), generator=g) * (5 / 3) / ((n_embd * block_size) ** 0.5)
W2 = torch.randn((n_hidden, vocab_size), generator=g) * 0.01
b2 = torch.randn(vocab_size, generator=g) * 0
bngain, bnbias = torch.ones((1, n_hidden)), torch.zeros((1, n_hidden))
bnmean_running, bnstd_running = torch.zeros((1, n_hidden)), torch.ones((1, n_hidden))
parameters = [C, W1, W2, b2, bngain, bnbias]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True

lossi = []
for i in range(60):
    ix = torch.randint(0, Xtr.shape[0], (32,), generator=g)
    Xb, Yb = Xtr[ix], Ytr[ix]
    emb = C[Xb]
    embcat = emb.view(emb.shape[0], -1)
    hpreact = embcat @ W1
    bnmeani = hpreact.mean(0, keepdim=True)
    bnstdi = hpreact.std(0, keepdim=True)
    hpreact = bngain * (hpreact - bnmeani) / bnstdi + bnbias
    with torch.no_grad():
        bnmean_running = 0.9 * bnmean_running + 0.1 * bnmeani
        bnstd_running = 0.9 * bnstd_running + 0.1 * bnstdi
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Yb)
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.5 if i < 40 else 0.05
    for p in parameters:
        p.data += -lr * p.grad
    lossi.append(loss.log10().item())
print(torch.tensor(lossi).view(-1, 20).mean(1))
print(f"saturated: {(h.abs() > 0.97).float().mean() * 100:.1f}%")


@torch.no_grad()
def split_loss(split):
    x, y = {"train": (Xtr, Ytr), "val": (Xdev, Ydev)}[split]
    hpreact = C[x].view(x.shape[0], -1) @ W1
    h = torch.tanh(bngain * (hpreact - bnmean_running) / bnstd_running + bnbias)
    print(split, F.cross_entropy(h @ W2 + b2, y).item())


split_loss("train")
split_loss("val")
