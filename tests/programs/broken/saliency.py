import microtape as mt

# Which pixels does the verdict depend on?
photo = mt.linspace(0.0, 1.0, 9, requires_grad=True).reshape(3, 3)
W = (mt.arange(6).cos()).reshape(3, 2)
v = mt.tensor([0.7, -0.4])

verdict = ((photo @ W).tanh() @ v).sum().sigmoid()
verdict.backward()
print("verdict", round(verdict.item(), 4))
print("saliency", photo.grad)
