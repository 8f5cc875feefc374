def does_it_succeed(random):
    saved = [("y.exp()", "z", "its own result"), ("y * y", "y", "its operands")]
    free = [("y.exp()", "y", "only its result"), ("y * y", "z", "only its operands"), ("y * 3", "y", "only the 3")]
    goes_wrong = bool(random.integers(0, 2))
    options = saved if goes_wrong else free
    operation, written, what = options[int(random.integers(len(options)))]
    change = random.choice(["+= 1", "*= 2", "-= 4"])
    return {
        "program": f"""
x = mt.tensor([{random.integers(1, 9)}.0, {random.integers(1, 9)}.0], requires_grad=True)
y = x * 2
z = {operation}
{written} {change}
loss = z.sum()
loss.backward()
""",
        "after": 0,
        "ask": f"`{written}` is written to after `z = {operation}`. Does this backward succeed? Write yes or no.",
        "answer": "succeeds",
        "hint": f"What does `{operation}` need for its derivative: its operands, its result, or neither?",
        "because": f"`{operation}` saves {what}, and `{written}` was written to.",
        "wrong": {
            "yes" if goes_wrong else "no": f"Backward fails exactly if it needs the old numbers of `{written}`.",
        },
    }


def on_the_tape(random):
    first, second = random.choice(range(3, 10), 2, replace=False)
    return {
        "program": f"""
x = mt.tensor([20.0, 30.0], requires_grad=True)
y = x * {first}
y *= {second}
loss = y.sum()
loss.backward()
""",
        "after": 0,
        "ask": "`y` is multiplied in place. What will `x.grad` be? Two numbers.",
        "answer": "grad x",
        "hint": "A write in place is an operation like any other. It has a row of its own.",
        "because": f"Both rows are on the tape: {second} at the write, then {first}.",
        "wrong": {
            f"{first}, {first}": "The write has a row of its own, which multiplies as well.",
            f"{second}, {second}": "The first product has a row of its own, which multiplies as well.",
            f"{first + second}, {first + second}": "The rows follow one another: along a path, derivatives multiply.",
        },
    }


def behind_its_back(random):
    x, factor, shift = random.integers(2, 5), random.integers(2, 4), random.integers(11, 15)
    y = x * factor
    return {
        "program": f"""
x = mt.tensor({x}.0, requires_grad=True)
y = x * {factor}
z = y * y
y.data += {shift}
z.backward()
""",
        "after": 0,
        "ask": "A write through `.data` raises no error. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "Which `y` does backward use: the one that `z` was computed from, or the one that is there now?",
        "because": f"2 · {y + shift} · {factor}: backward uses the overwritten `y`. It is wrong, and nobody notices.",
        "wrong": {
            2 * y * factor: "That would be right. But backward finds other numbers in `y`.",
            2 * (y + shift): "That is what arrives at `y`. It is multiplied on its way to `x`.",
            (y + shift) * factor: "`y` is both operands of `z`.",
        },
    }
