import microtape as mt

mt.manual_seed(5)
W = mt.randn(8, 3)
image, target = mt.rand(8), mt.tensor(2)
delta = mt.zeros(8, requires_grad=True)
optimizer = mt.optim.SGD([delta], lr=0.5, maximize=True)

for step in range(10):
    score = ((image + delta) @ W).log_softmax(0)[target]
    optimizer.zero_grad()
    score.backward()
    optimizer.step()
    with mt.no_grad():
        delta.clamp_(-0.3, 0.3)
print(round(score.item(), 3))
