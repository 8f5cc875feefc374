import microtape as mt


def reverse(gradient):
    return -float(gradient) * 0.5


# A domain classifier whose gradient is turned around on its way to the features.
feature = mt.tensor(0.4, requires_grad=True)
classifier = mt.tensor(1.2, requires_grad=True)

shared = feature * 2.0
shared.register_hook(reverse)
domain = (shared * classifier).sigmoid()
loss = -domain.log()
loss.backward()
with mt.no_grad():
    feature -= 0.1 * feature.grad
    classifier -= 0.1 * classifier.grad
print(feature.item(), classifier.item())
