import microtape as mt


class Round(mt.autograd.Function):
    formula = "z = round(x)    ∂z/∂x := 1"

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


weight = mt.tensor(2.6, requires_grad=True)

rounded = Round.apply(weight)
error = rounded - 5.0
loss = error * error

loss.backward()

print("rounded     =", rounded.item())
print("weight.grad =", weight.grad.item())
