import microtape as mt

# Every third batch has the signal that the second weight needs: the other batches give it a gradient of zero.
mt.manual_seed(0)
w = mt.tensor([0.5, -0.5], requires_grad=True)
u = mt.tensor([0.3], requires_grad=True)
optimizer = mt.optim.SGD([w, u], lr=0.1)
for step in range(9):
    x = mt.randn(4, 2)
    signal = mt.full((4,), 1.0 if step % 3 == 2 else 0.0)
    optimizer.zero_grad()
    guess = x @ w + u * signal
    loss = ((guess - 1) ** 2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
