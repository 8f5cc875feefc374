import microtape as mt

mt.manual_seed(0)
model = mt.nn.Sequential(mt.nn.Linear(5, 16), mt.nn.ReLU(), mt.nn.Linear(16, 3))
criterion = mt.nn.NLLLoss()
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
petals, species = mt.randn(24, 5), mt.randint(0, 3, (24,))
for epoch in range(3):
    optimizer.zero_grad()
    scores = model(petals)
    loss = criterion(scores, species)
    loss.backward()
    optimizer.step()
