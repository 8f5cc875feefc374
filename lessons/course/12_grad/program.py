import microtape as mt

w = mt.tensor(3.0, requires_grad=True)
b = mt.tensor(1.0, requires_grad=True)

product = w * 2
guess = product + b
loss = guess * guess

(answer,) = mt.autograd.grad(loss, w, retain_graph=True)
print("answer =", answer.item(), " w.grad =", w.grad)

loss.backward(inputs=[b])
print("b.grad =", b.grad.item(), " w.grad =", w.grad)
