import microtape as mt

mt.manual_seed(0)
weights = mt.tensor([[1.0], [1.2], [3.1], [60.0]])
centres = mt.tensor([1.0, 3.0], requires_grad=True)
scores = mt.zeros(2, requires_grad=True)
optimizer = mt.optim.SGD([centres, scores], lr=0.01)
for _ in range(3):
    share = scores.softmax(dim=0)
    closeness = -((weights - centres) ** 2) / 2
    loss = -(share.log() + closeness).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
