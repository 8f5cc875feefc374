import microtape as mt

mt.manual_seed(0)
policy = mt.nn.Linear(4, 2)
optimizer = mt.optim.Adam(policy.parameters(), lr=0.001)
for flight in range(4):
    seconds = 3 + flight % 3
    chosen = [policy(mt.randn(4)).log_softmax(0)[0] for _ in range(seconds)]
    for score in chosen[::-1]:
        optimizer.zero_grad()
        loss = -score
        loss.backward()
    optimizer.step()
