SQUARE = """
class Square(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
"""


def times_what_arrives(random):
    x, factor = random.integers(3, 6), random.integers(7, 10)
    return {
        "program": f"""{SQUARE}        return grad_z * 2 * x
x = mt.tensor({x}.0, requires_grad=True)
z = Square.apply(x) * {factor}
z.backward()
""",
        "after": 0,
        "ask": "The result of `Square` is multiplied once more. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "Which `grad_z` does the backward of `Square` receive, and what does it multiply it by?",
        "because": f"backward receives {factor}, and returns {factor} · 2·{x}.",
        "wrong": {
            2 * x: "That is the derivative of x². It is multiplied by the gradient that arrives.",
            factor: "That is what arrives at `Square`. Its backward multiplies it.",
            2 * factor: "`x` is unpacked, too.",
        },
    }


def backward_is_believed(random):
    x, wrong = random.integers(5, 9), int(random.integers(3, 5))
    return {
        "program": f"""{SQUARE}        return grad_z * {wrong} * x
x = mt.tensor({x}.0, requires_grad=True)
z = Square.apply(x)
z.backward()
""",
        "after": 0,
        "ask": "The backward of `Square` has a mistake in it. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "The engine does not know what the derivative of `forward` is. It does what backward says.",
        "because": f"The engine believes backward: 1 · {wrong}·{x}. Comparing with differences shows it.",
        "wrong": {
            2 * x: "That is the derivative of x². But the engine does what backward says.",
            0: "A wrong derivative is no error. The engine uses whatever backward returns.",
        },
    }


def what_backward_receives(random):
    x, factor = random.integers(2, 4), random.integers(5, 8)
    return {
        "program": f"""{SQUARE}        return grad_z * 2 * x
x = mt.tensor({x}.0, requires_grad=True)
y = Square.apply(x)
z = y * y * {factor}
z.backward()
""",
        "after": 2,
        "ask": "The backward of `Square` runs next. Which number is `grad_z` in there?",
        "answer": "inside Square.backward grad_z",
        "hint": "`grad_z` is the derivative of `z` with respect to `y`. How often is `y` used, and how large is it?",
        "because": f"z = {factor}·y², so 2·{factor}·y arrives, and y is {x * x}.",
        "wrong": {
            1: "1 arrives at `z`. The rows in between multiply it.",
            factor: "That arrives at the product of `y` with itself, which multiplies it by `y`, twice.",
            factor * x * x: "`y` is both operands: it gets two gradients, and they are summed first.",
            2 * factor * x: "`grad_z` is the gradient of y, and y is the square of x.",
        },
    }
