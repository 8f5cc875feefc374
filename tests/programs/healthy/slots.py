import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
queries, keys, values, output = nn.Linear(5, 6), nn.Linear(4, 6), nn.Linear(4, 5), nn.Linear(5, 4)
layers = nn.ModuleList([queries, keys, values, output])
clusters = mt.randn(6, 3, requires_grad=True)
optimizer = optim.Adam([*layers.parameters(), clusters], lr=0.01)
inputs = mt.randn(4, 7, 4)
for step in range(3):
    slots = mt.randn(4, 3, 5)
    for _ in range(2):  # each input is shared out among the slots; a slot is the mean of its shares
        shares = (queries(slots) @ keys(inputs).transpose(1, 2)).softmax(dim=1)
        slots = slots + (shares / shares.sum(dim=2, keepdim=True)) @ values(inputs)
    near = (keys(inputs) @ clusters).softmax(dim=2)  # to which cluster each input belongs
    sums = near.transpose(1, 2) @ keys(inputs)
    loss = (output(slots).mean(1) - inputs.mean(1)).pow(2).mean() + sums.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
