import microtape as mt

mt.manual_seed(0)
encoder, decoder = mt.nn.Linear(5, 3), mt.nn.Linear(3, 5)
optimizer = mt.optim.Adam([*encoder.parameters(), *decoder.parameters()])
x = mt.randn(8, 5)


def only_large(gradient):
    return gradient * (gradient.abs() > 1.0)


for step in range(3):
    code = encoder(x).tanh()
    code.register_hook(only_large)
    loss = ((decoder(code) - x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
