def two_products(random):
    x, y, w = random.integers(20, 30), *random.choice(range(2, 10), 2, replace=False)
    return {
        "program": f"""
x = mt.tensor({x}.0, requires_grad=True)
by_y = x * {y}
by_w = x * {w}
z = by_y + by_w
z.backward()
""",
        "after": 0,
        "ask": "`x` goes into two products, and `z` adds them up. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "Two paths lead from `z` to `x`. What does each of them bring?",
        "because": f"{y} through `by_y`, and {w} through `by_w`: over several paths, gradients add.",
        "wrong": {
            y: "One path alone brings that. There is a second one.",
            w: "One path alone brings that. There is a second one.",
            y * w: "Along a path, derivatives multiply. Over several paths, gradients add.",
        },
    }


def square_and_itself(random):
    x, factor = random.integers(3, 8), random.integers(2, 5)
    return {
        "program": f"""
x = mt.tensor({x}.0, requires_grad=True)
square = x * x
scaled = square * {factor}
z = scaled + x
z.backward()
""",
        "after": 0,
        "ask": "`x` is used three times. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "`x` is both operands of `square`, and it goes straight into `z` as well.",
        "because": f"{factor}·{x} for each of the two operands of `square`, and 1 straight from `z`.",
        "wrong": {
            2 * x * factor: "That comes through `square`. There is also the path straight from `z`.",
            x * factor + 1: "`x` is both operands of `square`: it gets a gradient for each.",
            2 * x + 1: "What comes through `square` passes `scaled` on its way, which multiplies it.",
        },
    }


def result_times_itself(random):
    x, factor = random.integers(2, 5), random.integers(3, 6)
    return {
        "program": f"""
x = mt.tensor({x}.0, requires_grad=True)
y = x * {factor}
z = y * y
z.backward()
""",
        "after": 0,
        "ask": "`y` is both operands of `z`. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "First add up what arrives at `y`, once for each operand. Then go on to `x`.",
        "because": f"`y` gets {x * factor} twice, and the sum is multiplied by {factor} on its way to `x`.",
        "wrong": {
            x * factor * factor: "`y` is both operands: it gets a gradient for each of them.",
            2 * x * factor: "That is what arrives at `y`. It goes on to `x`.",
        },
    }
