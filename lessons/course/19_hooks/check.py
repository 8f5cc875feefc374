import microtape as mt


def watched(exercise):
    """watch: what is seen of w and hidden = 3 · w, for hidden · hidden at w = [1, 2]"""
    w = _leaf([1.0, 2.0])
    hidden = w * 3
    seen = exercise.watch({"w": w, "hidden": hidden})
    (hidden * hidden).sum().backward()
    return seen


def watched_twice(exercise):
    """watch: what is seen of two passes, a · 2 and b · 3"""
    a, b = _leaf([1.0]), _leaf([1.0])
    seen = exercise.watch({"a": a, "b": b})
    (a * 2).sum().backward()
    (b * 3).sum().backward()
    return seen


def clipped(exercise):
    """clip at 10: 6, 12 and -40 arrive at hidden = 3 · w; what is w.grad?"""
    w = _leaf([1.0, 2.0, 3.0])
    hidden = w * 3
    exercise.clip(hidden, 10.0)
    hidden.backward(mt.tensor([6.0, 12.0, -40.0]))
    return w.grad


def others(exercise):
    """clip a at 1 in (a + b) · 10: the gradients of a and b"""
    a, b = _leaf([1.0, 2.0]), _leaf([3.0, 4.0])
    exercise.clip(a, 1.0)
    ((a + b) * 10).sum().backward()
    return {"a.grad": a.grad, "b.grad": b.grad}


def removed(exercise):
    """clip at 1, then remove the hook: the gradient of 10 · a"""
    a = _leaf([1.0, 2.0])
    exercise.clip(a, 1.0).remove()
    (a * 10).sum().backward()
    return a.grad


def reversed_values(exercise):
    """reverse: the numbers of reverse([2, -3])"""
    return exercise.reverse(_leaf([2.0, -3.0])).detach()


def reversed_gradient(exercise):
    """reverse: the gradient of 5 · reverse(x)"""
    x = _leaf([2.0, -3.0])
    (exercise.reverse(x) * 5).sum().backward()
    return x.grad


def other_uses(exercise):
    """reverse: the gradient of 5 · reverse(x) + 7 · x"""
    x = _leaf([2.0, -3.0])
    (exercise.reverse(x) * 5 + x * 7).sum().backward()
    return x.grad


def used_beside_it(exercise):
    """reverse: the gradient of (reverse(x) + x) · 10, in which the two cancel out"""
    x = _leaf([2.0, -3.0])
    ((exercise.reverse(x) + x) * 10).sum().backward()
    return x.grad


def _leaf(values):
    return mt.tensor(values, requires_grad=True)
