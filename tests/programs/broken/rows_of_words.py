import microtape as mt

mt.manual_seed(0)
model = mt.nn.Linear(8, 4)
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
words, kinds = mt.randn(12, 8), mt.randint(0, 4, (12,))
for epoch in range(3):
    shares = mt.nn.functional.log_softmax(model(words), dim=0)
    loss = mt.nn.functional.nll_loss(shares, kinds)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
