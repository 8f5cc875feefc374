"""A softmax classifier from scratch on three clouds of points, and its concise form."""

import torch
import torch.nn.functional as F

torch.manual_seed(3)

num_classes, per_class = 3, 40
centers = torch.tensor([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
X = torch.cat([centers[i] + torch.randn(per_class, 2) * 0.8 for i in range(num_classes)])
y = torch.arange(num_classes).repeat_interleave(per_class)
perm = torch.randperm(len(X))
train, test = perm[:90], perm[90:]

W = torch.normal(0, 0.01, size=(2, num_classes), requires_grad=True)
b = torch.zeros(num_classes, requires_grad=True)


def softmax(X):
    X_exp = torch.exp(X - X.max(dim=1, keepdim=True).values)
    partition = X_exp.sum(1, keepdim=True)
    return X_exp / partition


def net(X):
    return softmax(torch.matmul(X.reshape((-1, W.shape[0])), W) + b)


def cross_entropy(y_hat, y):
    return -torch.log(y_hat[range(len(y_hat)), y])


def accuracy(y_hat, y):
    if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    cmp = y_hat.type(y.dtype) == y
    return float(cmp.type(y.dtype).sum()) / len(y)


for epoch in range(20):
    loss = cross_entropy(net(X[train]), y[train]).mean()
    loss.backward()
    with torch.no_grad():
        for param in (W, b):
            param -= 0.5 * param.grad
            param.grad.zero_()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss:.4f}, test accuracy {accuracy(net(X[test]), y[test]):.3f}")

logits = X @ W + b
print("concise loss equals ours:", torch.allclose(F.cross_entropy(logits, y), cross_entropy(net(X), y).mean()))
print("one-hot:", F.one_hot(y[::per_class], num_classes).tolist())
top = torch.topk(net(X[test][:3]), 2)
print(top.values, top.indices)
confusion = torch.zeros(num_classes, num_classes, dtype=torch.int64)
for t, p in zip(y[test], logits[test].argmax(dim=-1)):
    confusion[t, p] += 1
print(confusion)
