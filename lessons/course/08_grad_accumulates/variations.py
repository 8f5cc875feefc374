def cleared_on_the_way(random):
    numbers = [int(number) for number in random.choice(range(5, 10), 4, replace=False)]
    place = int(random.integers(1, 3))
    lines = [f"(w * {number}).backward()" for number in numbers]
    lines.insert(place, str(random.choice(["w.grad = None", "w.grad.zero_()"])))
    program = "\n".join(lines)
    return {
        "program": f"\nw = mt.tensor(90.0, requires_grad=True)\n{program}\n",
        "pass": 4,
        "after": 0,
        "ask": "This is the last of four calls of backward. What will `w.grad` be at its end?",
        "answer": "grad w",
        "hint": "Backward adds to what is there. Which calls came after the line that clears `w.grad`?",
        "because": f"It was cleared, and then {' + '.join(map(str, numbers[place:]))} were added.",
        "wrong": {
            sum(numbers): "One line clears `w.grad` on the way.",
            numbers[-1]: "Backward adds to `.grad`. It does not replace it.",
        },
    }


def loop_that_clears_nothing(random):
    times, factor = random.integers(3, 5), random.integers(5, 10)
    return {
        "program": f"""
w = mt.tensor(90.0, requires_grad=True)
for step in range({times}):
    loss = w * {factor}
    loss.backward()
""",
        "pass": int(times),
        "after": 0,
        "ask": "This is the last time round the loop. What will `w.grad` be at the end?",
        "answer": "grad w",
        "hint": "Each time round, backward adds to what the time before left there.",
        "because": f"{factor} was added {times} times. A training loop clears `.grad` each time.",
        "wrong": {
            factor: "That is the gradient of one loss. It is added to what is there.",
            factor * (times - 1): "This pass adds once more.",
        },
    }


def not_reached_again(random):
    w, factor, other = random.integers(3, 6), random.integers(6, 10), random.integers(50, 60)
    return {
        "program": f"""
w = mt.tensor({w}.0, requires_grad=True)
v = mt.tensor(90.0, requires_grad=True)
first = w * v * {factor}
first.backward()
second = w * {other}
second.backward()
""",
        "pass": 2,
        "after": 0,
        "ask": "The second loss does not use `v`. What will `v.grad` be after the second call of backward?",
        "answer": "grad v",
        "hint": "What did the first pass leave in `v.grad`? Does the second pass store anything there?",
        "because": f"{w}·{factor} from the first pass. The second one does not reach `v`, and leaves it alone.",
        "wrong": {
            0: "A pass that does not reach `v` leaves its `.grad` alone.",
            "None": "A pass that does not reach `v` leaves its `.grad` alone.",
            w * factor + other: "The second pass does not reach `v`.",
        },
    }
