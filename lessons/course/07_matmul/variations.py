def weighted_bills(random):
    a, b, c, d = random.choice(range(1, 6), 4, replace=False)
    u, v = random.choice(range(5, 9), 2, replace=False)
    return {
        "program": f"""
amounts = mt.tensor([[{a}.0, {b}.0], [{c}.0, {d}.0]])
prices = mt.tensor([[40.0], [50.0]], requires_grad=True)
bills = amounts @ prices
bills.backward(gradient=mt.tensor([[{u}.0], [{v}.0]]))
""",
        "after": 0,
        "ask": "Each bill has a weight. What will `prices.grad` be? Two numbers.",
        "answer": "grad prices",
        "hint": "Take one price. By how much does it move each bill, and what does that bill count?",
        "because": f"{a}·{u} + {c}·{v}, and {b}·{u} + {d}·{v}: the columns of `amounts`, weighted.",
        "wrong": {
            f"{a + c}, {b + d}": "That is how often each good was bought. Each bill has a weight.",
            f"{a * u + b * v}, {c * u + d * v}": "`amounts` is transposed: a price belongs to a column of it.",
        },
    }


def gradient_of_the_left(random):
    p, q = random.choice(range(2, 6), 2, replace=False)
    factor = random.integers(6, 10)
    return {
        "program": f"""
left = mt.tensor([[30.0, 40.0], [50.0, 60.0]], requires_grad=True)
right = mt.tensor([[{p}.0], [{q}.0]])
product = left @ right
total = product.sum() * {factor}
total.backward()
""",
        "after": 0,
        "ask": "What will `left.grad` be? Four numbers, row by row.",
        "answer": "grad left",
        "hint": "Each number of `left` was multiplied by one number of `right`, and the sum by a factor.",
        "because": f"Each row was multiplied by {p} and {q}, and {factor} arrives at each result.",
        "wrong": {
            f"{p}, {q}, {p}, {q}": "More than 1 arrives at `product`.",
            f"{factor * p}, {factor * p}, {factor * q}, {factor * q}": "A row of `left` meets the column `right`.",
            f"{factor}, {factor}, {factor}, {factor}": "That arrives at `product`. Then the other operand comes in.",
        },
    }


def shapes_of_a_product(random):
    rows, inner, columns = random.choice(range(2, 7), 3, replace=False)
    return {
        "program": f"""
a = mt.ones({rows}, {inner}, requires_grad=True)
b = mt.ones({inner}, {columns}, requires_grad=True)
c = a @ b
total = c.sum()
total.backward()
""",
        "after": 0,
        "ask": "`c` is the product of `a` and `b`. What is the shape of the gradient that arrives at `c`?",
        "answer": "shape c",
        "hint": "A gradient has the shape of its tensor. Which shape has a product of two matrices?",
        "because": "`c` has the rows of `a` and the columns of `b`, and so has its gradient.",
        "wrong": {
            f"{rows}×{inner}": "That is the shape of `a`.",
            f"{inner}×{columns}": "That is the shape of `b`.",
            "scalar": "`total` is one number. Its gradient spreads over all elements of `c`.",
        },
    }
