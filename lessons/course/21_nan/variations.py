def not_chosen(random):
    roots = [int(root) for root in random.choice([1, 2, 5], 3)]
    place, factor = int(random.integers(0, 3)), int(random.choice([20, 40]))
    x = [0.0 if one == place else float(root * root) for one, root in enumerate(roots)]
    right = [None if one == place else factor / (2 * root) for one, root in enumerate(roots)]
    return {
        "program": f"""
x = mt.tensor({x}, requires_grad=True)
root = x.sqrt()
safe = mt.where(x > 0, root, 0.0)
total = safe.sum() * {factor}
total.backward()
""",
        "after": 0,
        "ask": "`where` leaves out the root at one place. What will `x.grad` be? Three numbers.",
        "answer": "grad x",
        "hint": "The derivative of √x is 1 / (2·√x). Which gradient arrives where the root was not chosen?",
        "because": "A gradient of 0 arrives where the root was not chosen, and 0 · ∞ has no value.",
        "wrong": {
            _numbers(right, 0): "0 arrives there, and is multiplied by a derivative that is infinite.",
            _numbers(right, "inf"): "0 arrives where the root was not chosen, not 1. What is 0 · ∞?",
        },
    }


def infinite_is_no_nan(random):
    roots = [int(root) for root in random.choice([1, 2, 5], 3)]
    place, factor = int(random.integers(0, 3)), int(random.choice([20, 40]))
    x = [0.0 if one == place else float(root * root) for one, root in enumerate(roots)]
    right = [None if one == place else factor / (2 * root) for one, root in enumerate(roots)]
    return {
        "program": f"""
x = mt.tensor({x}, requires_grad=True)
root = x.sqrt()
total = root.sum() * {factor}
total.backward()
""",
        "after": 0,
        "ask": "Nothing is left out here. What will `x.grad` be? Three numbers.",
        "answer": "grad x",
        "hint": "The derivative of √x is 1 / (2·√x). Multiply it, at each place, by what arrives.",
        "because": "What arrives is not 0: times ∞, it is ∞, which is a value, and not a NaN.",
        "wrong": {
            _numbers(right, "nan"): "A NaN would need 0 · ∞. What arrives here is not 0.",
            _numbers(right, 0): "The slope of the root is infinite at 0.",
        },
    }


def kept_away_from_zero(random):
    roots = [int(root) for root in random.choice([2, 5], 3)]
    place, factor = int(random.integers(0, 3)), int(random.choice([20, 40]))
    x = [0.0 if one == place else float(root * root) for one, root in enumerate(roots)]
    right = [None if one == place else factor / (2 * root) for one, root in enumerate(roots)]
    return {
        "program": f"""
x = mt.tensor({x}, requires_grad=True)
safe = x.clamp(min=1.0)
root = safe.sqrt()
total = root.sum() * {factor}
total.backward()
""",
        "after": 0,
        "ask": "`clamp` raises the smallest number to its limit. What will `x.grad` be? Three numbers.",
        "answer": "grad x",
        "hint": "The root never sees the smallest number. By what does `clamp` multiply where it has raised one?",
        "because": "The root's derivative is finite everywhere, and `clamp` multiplies by 0 where it raised a number.",
        "wrong": {
            _numbers(right, "nan"): "The root gets no 0 here: its derivative is finite, and 0 times it is a value.",
            _numbers(right, factor / 2): "That arrives at `safe`. `clamp` sends nothing back where it raised a number.",
            _numbers(right, "inf"): "The root gets no 0 here: its derivative is finite.",
        },
    }


def _numbers(right, instead):
    return ", ".join(f"{instead if one is None else one}" for one in right)
