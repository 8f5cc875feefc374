def weights_for_elements(random):
    factors, weights = random.choice(range(2, 8), 3, replace=False), random.choice(range(3, 8), 3, replace=False)
    right = factors * weights
    return {
        "program": f"""
x = mt.tensor([20.0, 30.0, 40.0], requires_grad=True)
y = x * mt.tensor({_floats(factors)})
y.backward(gradient=mt.tensor({_floats(weights)}))
""",
        "after": 0,
        "ask": "Each result has a weight. What will `x.grad` be? Three numbers.",
        "answer": "grad x",
        "hint": "Each number of `x` has a part in one result. Multiply the weight of that result by its derivative.",
        "because": "Each weight is multiplied by the derivative of its result.",
        "wrong": {
            _numbers(factors): "These are the derivatives alone. Each has a weight.",
            _numbers(weights): "These are the weights. Each is multiplied by the derivative of its result.",
            f"{right.sum()}": "Each number of `x` has a gradient of its own.",
        },
    }


def two_results_of_one_number(random):
    a, b = random.choice(range(2, 7), 2, replace=False)
    u, v = random.choice(range(3, 8), 2, replace=False)
    return {
        "program": f"""
x = mt.tensor(90.0, requires_grad=True)
y = x * mt.tensor([{a}.0, {b}.0])
y.backward(gradient=mt.tensor([{u}.0, {v}.0]))
""",
        "after": 0,
        "ask": "`x` has a part in two results, and each has a weight. What will `x.grad` be?",
        "answer": "grad x",
        "hint": "Multiply each derivative by the weight of its result. `x` is used for both results.",
        "because": f"{u}·{a} + {v}·{b}: each derivative times its weight, and the sum of both.",
        "wrong": {
            a + b: "That is the sum of the derivatives, as if each weight were 1.",
            u + v: "That is the sum of the weights. Each is multiplied by a derivative.",
            f"{u * a}, {v * b}": "`x` is one number: what arrives from both results is summed.",
        },
    }


def one_row_of_the_jacobian(random):
    row, weight = int(random.integers(0, 3)), int(random.integers(2, 10))
    weights = [weight if place == row else 0 for place in range(4)]
    right = [weight if place <= row else 0 for place in range(4)]
    return {
        "program": f"""
x = mt.tensor([11.0, 12.0, 13.0, 14.0], requires_grad=True)
running = x.cumsum(0)
doubled = running * 2
doubled.backward(gradient=mt.tensor({_floats(weights)}))
""",
        "after": 0,
        "ask": "`running` holds the running sums of `x`. What will `x.grad` be? Four numbers.",
        "answer": "grad x",
        "hint": "Only one result counts. Which numbers of `x` are part of that running sum?",
        "because": f"The running sum at place {row}, counted from 0, holds all numbers up to there, and no later one.",
        "wrong": {
            _numbers(weights): "A running sum holds every number up to its place, and it is doubled.",
            _numbers(right): "The running sums are doubled.",
            _numbers([2 * weight] * 4): "A number that comes later is no part of this running sum.",
        },
    }


def _floats(numbers):
    return [float(number) for number in numbers]


def _numbers(numbers):
    return ", ".join(str(number) for number in numbers)
