def who_waits(random):
    first, second, third = random.choice(list("abcdefgh"), 3, replace=False)
    after = int(random.integers(1, 3))
    return {
        "program": f"""
x = mt.tensor({random.integers(2, 9)}.0, requires_grad=True)
{first} = x * {random.integers(2, 6)}
{second} = {first} * {random.integers(2, 6)}
{third} = {second} * {random.integers(2, 6)}
z = {first} + {third}
z.backward()
""",
        "after": after,
        "ask": f"`z` {'has' if after == 1 else f'and `{third}` have'} run. Which row runs next?",
        "answer": "next",
        "hint": "A row runs when everything that uses its result has run. Which rows are still used by one that waits?",
        "because": f"`{first}` is used twice: it waits until both gradients have arrived.",
        "wrong": {
            first: f"`{first}` is used twice, and one of its two gradients is still on the way.",
            "x": "`x` waits for the row that uses it.",
        },
    }


def two_that_are_ready(random):
    earlier, later = random.choice(list("abcdefgh"), 2, replace=False)
    one, other = random.permutation([earlier, later])
    return {
        "program": f"""
x = mt.tensor({random.integers(2, 9)}.0, requires_grad=True)
y = mt.tensor({random.integers(2, 9)}.0, requires_grad=True)
{earlier} = x * {random.integers(2, 6)}
{later} = y * {random.integers(2, 6)}
z = {one} * {other}
z.backward()
""",
        "after": 1,
        "ask": f"`z` has run, and both `{one}` and `{other}` have all their gradients. Which runs next?",
        "answer": "next",
        "hint": "Backward rewinds the tape. The order of the operands in `z` does not matter.",
        "because": f"`{later}` was recorded last, and backward rewinds the tape.",
        "wrong": {earlier: f"`{earlier}` was recorded before `{later}`.", "y": "`y` still waits for its gradient."},
    }


def sum_before_sending(random):
    x, factor, shift = random.integers(2, 4), random.integers(2, 5), random.integers(20, 30)
    a = x * factor
    return {
        "program": f"""
x = mt.tensor({x}.0, requires_grad=True)
a = x * {factor}
b = a + {shift}
z = a * b
z.backward()
""",
        "after": 0,
        "ask": "`a` gets one gradient from `z` and one from `b`. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "`z` sends b to `a`, and a to `b`, which passes it on. `a` waits for both, and sends the sum on.",
        "because": f"({a + shift} + {a}) · {factor}: `a` sends the sum of both, once.",
        "wrong": {
            (a + shift) * factor: "That has only what comes straight from `z`. `a` waits for `b`, too.",
            a * factor: "That has only what comes through `b`. `z` sends a gradient straight to `a`, too.",
            2 * a + shift: "That is what arrives at `a`. It is multiplied on its way to `x`.",
        },
    }
