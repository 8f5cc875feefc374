import microtape as mt

amplitude = mt.tensor(1.5, requires_grad=True)
frequency = mt.tensor(2.0, requires_grad=True)
time = mt.linspace(0.0, 3.0, 7)
measured = mt.tensor([0.1, 1.2, 0.9, -0.2, -1.0, -0.8, 0.3])

curve = (amplitude * (frequency * time).sin() - measured) ** 2
curve.backward()

with mt.no_grad():
    amplitude -= 0.1 * amplitude.grad
    frequency -= 0.1 * frequency.grad
