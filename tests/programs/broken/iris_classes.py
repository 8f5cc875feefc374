import microtape as mt

mt.manual_seed(3)
centres = mt.tensor([[1.0, 0.2], [4.0, 1.3], [5.6, 2.1]])
kinds = mt.arange(60) % 3
leaves = centres[kinds] + 0.3 * mt.randn(60, 2)

model = mt.nn.Sequential(
    mt.nn.Linear(2, 16),
    mt.nn.Tanh(),
    mt.nn.Linear(16, 3),
    mt.nn.Softmax(dim=1),
)
criterion = mt.nn.CrossEntropyLoss()
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    optimizer.zero_grad()
    predicted = model(leaves)
    loss = criterion(predicted, kinds)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}", (predicted.argmax(1) == kinds).float().mean().item())
