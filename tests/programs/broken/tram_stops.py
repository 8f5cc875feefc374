import microtape as mt

nn, F = mt.nn, mt.nn.functional
mt.manual_seed(4)
routes = mt.zeros(5, 12, dtype=mt.int64)
for i, length in enumerate([12, 7, 5, 9, 4]):
    routes[i, :length] = mt.randint(1, 8, (length,))
read, following = routes[:, :-1], routes[:, 1:]
stops, order, last = nn.Embedding(8, 6, padding_idx=0), nn.Embedding(11, 6), nn.Linear(6, 8)
query, key, value = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
parts = [stops, order, query, key, value, last]
optimizer = mt.optim.Adam([p for part in parts for p in part.parameters()], lr=0.01)
for day in range(3):
    x = stops(read) + order(mt.arange(11))
    q, k, v = (one(x).unsqueeze(1) for one in (query, key, value))
    x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1)
    loss = F.cross_entropy(last(x).transpose(1, 2), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
