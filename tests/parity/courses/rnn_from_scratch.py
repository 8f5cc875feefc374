"""A recurrent language model of letters from scratch: state, one-hot inputs, clipping, perplexity, prediction."""

import math

import torch
from torch.nn import functional as F

torch.manual_seed(7)
corpus = "the time traveller for so it will be convenient to speak of him was expounding a recondite matter to us "
vocab = sorted(set(corpus))
index = {c: i for i, c in enumerate(vocab)}
tokens = torch.tensor([index[c] for c in corpus], dtype=torch.long)
num_steps, batch_size, num_hiddens = 8, 4, 24


def get_params(vocab_size, num_hiddens):
    def normal(shape):
        return torch.randn(size=shape) * 0.1

    W_xh, W_hh, b_h = normal((vocab_size, num_hiddens)), normal((num_hiddens, num_hiddens)), torch.zeros(num_hiddens)
    W_hq, b_q = normal((num_hiddens, vocab_size)), torch.zeros(vocab_size)
    params = [W_xh, W_hh, b_h, W_hq, b_q]
    for param in params:
        param.requires_grad_(True)
    return params


def rnn(inputs, state, params):
    W_xh, W_hh, b_h, W_hq, b_q = params
    (H,) = state
    outputs = []
    for X in inputs:
        H = torch.tanh(torch.mm(X, W_xh) + torch.mm(H, W_hh) + b_h)
        outputs.append(torch.mm(H, W_hq) + b_q)
    return torch.cat(outputs, dim=0), (H,)


def grad_clipping(params, theta):
    norm = torch.sqrt(sum(torch.sum(p.grad**2) for p in params))
    if norm > theta:
        for param in params:
            param.grad[:] *= theta / norm


def predict(prefix, num_preds, params):
    state = (torch.zeros(1, num_hiddens),)
    outputs = [index[prefix[0]]]
    for t in range(num_preds + len(prefix) - 1):
        X = F.one_hot(torch.tensor([[outputs[-1]]]), len(vocab)).float()
        y, state = rnn(X, state, params)
        outputs.append(index[prefix[t + 1]] if t < len(prefix) - 1 else int(y.argmax(dim=1).reshape(1)))
    return "".join(vocab[i] for i in outputs)


params = get_params(len(vocab), num_hiddens)
length = (len(tokens) - 1) // batch_size
Xs, Ys = tokens[: batch_size * length].view(batch_size, -1), tokens[1 : batch_size * length + 1].view(batch_size, -1)
for epoch in range(15):
    state, total, count = None, 0.0, 0
    for i in range(0, length - num_steps + 1, num_steps):
        X, Y = Xs[:, i : i + num_steps], Ys[:, i : i + num_steps]
        state = (torch.zeros(batch_size, num_hiddens),) if state is None else tuple(s.detach_() for s in state)
        y_hat, state = rnn(F.one_hot(X.T, len(vocab)).type(torch.float32), state, params)
        loss = F.cross_entropy(y_hat, Y.T.reshape(-1))
        for p in params:
            p.grad = None
        loss.backward()
        grad_clipping(params, 1)
        with torch.no_grad():
            for p in params:
                p.sub_(p.grad, alpha=1.0)
        total, count = total + loss.item() * Y.numel(), count + Y.numel()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}, perplexity {math.exp(total / count):.3f}")
print(predict("time ", 10, params))
