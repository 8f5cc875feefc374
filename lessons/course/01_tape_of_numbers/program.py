import microtape as mt

width = mt.tensor(5.0, requires_grad=True)
height = mt.tensor(4.0, requires_grad=True)
border = mt.tensor(1.0, requires_grad=True)

area = width * height
total = area + border

total.backward()

print("total       =", total.item())
print("width.grad  =", width.grad.item())
print("height.grad =", height.grad.item())
print("border.grad =", border.grad.item())
