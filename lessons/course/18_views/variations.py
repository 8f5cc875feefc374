def through_a_window(random):
    first, second = random.choice(range(2, 8), 2, replace=False)
    start = int(random.integers(0, 3))
    inside = [start <= place < start + 2 for place in range(4)]
    return {
        "program": f"""
x = mt.tensor([11.0, 12.0, 13.0, 14.0], requires_grad=True)
y = x * {first}
window = y[{start}:{start + 2}]
window *= {second}
loss = y.sum()
loss.backward()
""",
        "after": 0,
        "ask": "`window` shows two numbers of `y`. What will `x.grad` be? Four numbers.",
        "answer": "grad x",
        "hint": "Which numbers of `y` did the write multiply? `loss` adds up all of `y`.",
        "because": f"The write multiplied what the window shows by {second}. Before, all were multiplied by {first}.",
        "wrong": {
            _numbers([first] * 4): "The write through the window changed two numbers of `y`.",
            _numbers([first * second] * 4): "The window shows only two of the numbers.",
            _numbers([first * second if one else 0 for one in inside]): "`loss` adds up all of `y`.",
            _numbers([second if one else first for one in inside]): "In the window, both rows multiply.",
        },
    }


def overwritten_part(random):
    factor, places = random.integers(3, 10), random.permutation([True, False, False])
    place = int(places.argmax())
    right = [0 if one else factor for one in places]
    return {
        "program": f"""
x = mt.tensor([11.0, 12.0, 13.0], requires_grad=True)
y = x * {factor}
y[{place}] = {random.integers(20, 30)}.0
loss = y.sum()
loss.backward()
""",
        "after": 0,
        "ask": "One number of `y` is replaced. What will `x.grad` be? Three numbers.",
        "answer": "grad x",
        "hint": "Does the number that was written depend on `x`?",
        "because": "The number that was replaced no longer depends on `x`, so no gradient comes back through it.",
        "wrong": {
            _numbers([factor] * 3): "One of them was replaced by a number that does not depend on `x`.",
            _numbers([factor - one for one in right]): "The number that was replaced is the one without a gradient.",
        },
    }


def write_below_a_view(random):
    first, second = random.choice(range(2, 8), 2, replace=False)
    row = int(random.integers(0, 2))
    rows = [first * second if place == row else 0 for place in (0, 0, 1, 1)]
    return {
        "program": f"""
x = mt.tensor([[11.0, 12.0], [13.0, 14.0]], requires_grad=True)
y = x * {first}
row = y[{row}]
y *= {second}
loss = row.sum()
loss.backward()
""",
        "after": 0,
        "ask": "`row` was taken before `y` was written to. What will `x.grad` be? Four numbers, row by row.",
        "answer": "grad x",
        "hint": "A view shows the numbers of its base, whoever writes to them. Which of them does `loss` add up?",
        "because": f"`row` shows what was written: {first}·{second}. The other row has no part in `loss`.",
        "wrong": {
            _numbers([first if one else 0 for one in rows]): "`row` is a view: it shows what was written to `y`.",
            _numbers([first * second] * 4): "`loss` adds up one row alone.",
            _numbers([second if one else 0 for one in rows]): "The first product has a row on the tape, too.",
        },
    }


def _numbers(numbers):
    return ", ".join(str(int(number)) for number in numbers)
