import microtape as mt


class Largest(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        place = x.argmax()
        ctx.save_for_backward(place)
        ctx.shape = x.shape
        return x[place], place

    @staticmethod
    def backward(ctx, grad_largest, grad_place):
        (place,) = ctx.saved_tensors
        grad_x = mt.zeros(ctx.shape)
        grad_x[place] = grad_largest
        return grad_x


x = mt.tensor([4.0, 9.0, 2.0], requires_grad=True)

largest, place = Largest.apply(x)
tripled = largest * 7
score = tripled + place

score.backward()

print("score  =", score.item())
print("x.grad =", x.grad.tolist())
