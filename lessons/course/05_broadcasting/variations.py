def row_under_rows(random):
    rows, factor = random.choice(range(3, 8), 2, replace=False)
    return {
        "program": f"""
table = mt.ones({rows}, 2, requires_grad=True)
row = mt.tensor([{random.integers(20, 30)}.0, {random.integers(20, 30)}.0], requires_grad=True)
both = table + row
total = (both * {factor}).sum()
total.backward()
""",
        "after": 0,
        "ask": "`row` is added to every row of `table`. What will `row.grad` be? Two numbers.",
        "answer": "grad row",
        "hint": "What arrives at one element of `both`? And how many elements of `both` use one number of `row`?",
        "because": f"Each number of `row` was used {rows} times, and {factor} arrives each time.",
        "wrong": {
            f"{factor}, {factor}": "That is the gradient of one copy. Sum over all the rows it was stretched to.",
            f"{rows}, {rows}": "Each copy receives more than 1: `both` is multiplied before the sum.",
        },
    }


def column_times_row(random):
    a, b, c = random.choice(range(1, 7), 3, replace=False)
    return {
        "program": f"""
column = mt.tensor([[{random.integers(20, 30)}.0], [{random.integers(20, 30)}.0]], requires_grad=True)
row = mt.tensor([{a}.0, {b}.0, {c}.0])
total = (column * row).sum()
total.backward()
""",
        "after": 0,
        "ask": "The product is a table. What will `column.grad` be? Two numbers.",
        "answer": "grad column",
        "hint": "Each number of `column` is stretched along a row of the table, and multiplied by all of `row`.",
        "because": f"Each number of `column` was multiplied by {a}, {b} and {c}, and these add up.",
        "wrong": {
            f"{a}, {b}, {c}": "These are the gradients of the copies of one number. They are summed.",
            "3, 3": "Each copy receives what it was multiplied by, not 1.",
            "1, 1": "Each copy receives what it was multiplied by. Then the copies are summed.",
        },
    }


def one_number_for_all(random):
    rows, columns, factor = random.choice(range(2, 6), 3, replace=False)
    return {
        "program": f"""
table = mt.ones({rows}, {columns})
shift = mt.tensor({random.integers(70, 90)}.0, requires_grad=True)
total = ((table + shift) * {factor}).sum()
total.backward()
""",
        "after": 0,
        "ask": "One number is added to the whole table. What will `shift.grad` be?",
        "answer": "grad shift",
        "hint": "How many elements of the table use `shift`, and what does each of them send back?",
        "because": f"{rows}·{columns} elements used it, and each sends {factor}.",
        "wrong": {
            factor: "That is what one element sends. All of them use `shift`.",
            rows * columns: "Each element sends more than 1: it is multiplied before the sum.",
            rows * factor: "`shift` was stretched along both dimensions.",
            columns * factor: "`shift` was stretched along both dimensions.",
        },
    }


def shape_of_a_gradient(random):
    rows, columns = random.choice(range(2, 6), 2, replace=False)
    numbers = ", ".join(f"[{number}.0]" for number in random.choice(range(10, 20), rows))
    return {
        "program": f"""
column = mt.tensor([{numbers}], requires_grad=True)
row = mt.ones({columns}, requires_grad=True)
table = column + row
table.sum().backward()
""",
        "after": 0,
        "ask": "`table` is as high as `column` and as wide as `row`. What is the shape of the gradient at `column`?",
        "answer": "shape column",
        "hint": "What forward stretches, backward sums.",
        "because": "The gradient has the shape of its tensor: the sum is taken over the stretched dimension.",
        "wrong": {
            f"{rows}×{columns}": "That is the shape of `table`. It is summed until it has the shape of `column`.",
            f"{rows}": "The column keeps its second dimension, of size one.",
            f"{columns}": "That is the shape of `row`.",
        },
    }
