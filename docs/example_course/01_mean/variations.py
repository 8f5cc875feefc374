def mean_of_equal_numbers(random):
    count, share = random.choice([2, 4, 5]), random.integers(2, 6)
    return {
        "program": f"""
x = mt.tensor({[70.0] * count}, requires_grad=True)
y = x.mean() * {10 * share * count}
y.backward()
""",
        "after": 0,
        "ask": "The mean is multiplied. What will `x.grad` be? Write it for each number.",
        "answer": "grad x",
        "hint": "What arrives at the mean, and among how many numbers is it shared?",
        "because": f"{10 * share * count} arrives at the mean, and {count} numbers share it.",
        "wrong": {
            ", ".join([f"{10 * share * count}"] * count): "That arrives at the mean. It is shared.",
        },
    }


def mean_times_itself(random):
    first, second = random.choice(range(3, 9), 2, replace=False)
    return {
        "program": f"""
x = mt.tensor([{2 * first}.0, {2 * second}.0], requires_grad=True)
m = x.mean()
y = m * m * 10
y.backward()
""",
        "after": 0,
        "ask": "The square of the mean is multiplied. What will `x.grad` be? Two numbers.",
        "answer": "grad x",
        "hint": "First what arrives at `m`, which is both operands of a product. Two numbers share it.",
        "because": f"2 · {first + second} · 10 arrives at `m`, and each number gets half of it.",
        "wrong": {
            f"{20 * (first + second)}, {20 * (first + second)}": "That arrives at `m`. Two numbers share it.",
            f"{5 * (first + second)}, {5 * (first + second)}": "`m` is both operands: it gets two gradients.",
        },
    }


def mean_and_sum(random):
    count, weight = random.choice([2, 4, 5]), random.integers(3, 9)
    return {
        "program": f"""
x = mt.tensor({[70.0] * count}, requires_grad=True)
y = x.mean() * {count * weight} + x.sum() * 10
y.backward()
""",
        "after": 0,
        "ask": "`x` goes into a mean and into a sum. What will `x.grad` be? Write it for each number.",
        "answer": "grad x",
        "hint": "What comes back through the mean, which shares, and what through the sum, which does not?",
        "because": f"{weight} through the mean, and 10 through the sum.",
        "wrong": {
            ", ".join([f"{count * weight + 10}"] * count): "The mean shares what arrives there.",
            ", ".join([f"{weight}"] * count): "There is also the path through the sum.",
        },
    }
