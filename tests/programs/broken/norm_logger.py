import microtape as mt

norms = {"w1": [], "w2": []}


def logger(name):
    def log(gradient):
        norms[name].append(gradient.norm().item())

    return log


parameters = {
    "w1": mt.tensor([0.5, -0.2], requires_grad=True),
    "w2": mt.tensor([1.0, 0.3], requires_grad=True),
    "bias": mt.tensor(0.0, requires_grad=True),
}
for name, p in parameters.items():
    p.register_hook(logger(name))

x = mt.tensor([1.0, 2.0])
hidden = (parameters["w1"] * x).tanh()
loss = ((parameters["w2"] * hidden).sum() + parameters["bias"] - 1.0) ** 2
loss.backward()
for p in parameters.values():
    p.data -= 0.1 * p.grad
print(norms)
