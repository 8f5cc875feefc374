import microtape as mt

mt.manual_seed(0)
reader, guess = mt.nn.LSTM(3, 5, batch_first=True), mt.nn.Linear(5, 1)
parameters = [*reader.parameters(), *guess.parameters()]
optimizer = mt.optim.RMSprop(parameters, lr=1e-3)
x, y = mt.randn(4, 7, 3), mt.randn(4, 1)
for epoch in range(4):
    out, (h, c) = reader(x)
    loss = mt.nn.functional.mse_loss(guess(h[-1]), y)
    loss.backward()
    mt.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
