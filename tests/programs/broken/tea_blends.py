import microtape as mt

F = mt.nn.functional
mt.manual_seed(0)
leaves = mt.randn(24, 5)
shares = (2 * mt.randn(24, 3)).softmax(dim=1)  # of black, green and white tea in each blend
taster = mt.nn.Sequential(mt.nn.Linear(5, 12), mt.nn.Tanh(), mt.nn.Linear(12, 3))
optimizer = mt.optim.SGD(taster.parameters(), lr=0.1)
for tasting in range(4):
    guess = taster(leaves)
    loss = F.kl_div(guess, shares, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"tasting {tasting}: {loss.item():.3f}")
