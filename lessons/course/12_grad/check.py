import microtape as mt


def all_used(exercise):
    """unused: the loss depends on both"""
    a, b = _leaf(2.0), _leaf(3.0)
    return exercise.unused(a * b, {"a": a, "b": b})


def one_unused(exercise):
    """unused: a · 5 + b · 0, so c is not used"""
    a, b, c = _leaf(2.0), _leaf(3.0), _leaf(4.0)
    return exercise.unused(a * 5 + b * 0, {"a": a, "b": b, "c": c})


def result_unused(exercise):
    """unused: a result in the middle is used, another is not"""
    a = _leaf(2.0)
    middle, aside = a * a, a * 7
    return exercise.unused(middle * 3, {"aside": aside, "middle": middle, "a": a})


def old_gradient(exercise):
    """unused: c.grad is 9 from an earlier backward, a.grad is None"""
    a, c = _leaf(2.0), _leaf(4.0)
    (c * 9).backward()
    names = exercise.unused(a * 5, {"a": a, "c": c})
    return {"unused": names, "a.grad": a.grad, "c.grad": c.grad}


def still_there(exercise):
    """unused: loss.backward() afterwards"""
    a, c = _leaf(2.0), _leaf(4.0)
    loss = a * a
    exercise.unused(loss, {"a": a, "c": c})
    loss.backward()
    return {"a.grad": a.grad}


def two_slopes(exercise):
    """slopes: h = x · x and z = h · 3 at x = 2"""
    return exercise.slopes(lambda x: x * x, lambda h: h * 3, _leaf(2.0))


def two_curves(exercise):
    """slopes: h = 5 · x and z = h · h at x = 2"""
    return exercise.slopes(lambda x: x * 5, lambda h: h * h, _leaf(2.0))


def nothing_left(exercise):
    """slopes: how often f and g are called, and x.grad afterwards"""
    x, called = _leaf(2.0), []

    def f(x):
        called.append("f")
        return x * x

    def g(h):
        called.append("g")
        return h * h

    exercise.slopes(f, g, x)
    return {"called": called, "x.grad": x.grad}


def _leaf(value):
    return mt.tensor(value, requires_grad=True)


def at_random(exercise, random):
    leaves = {name: _leaf(float(random.normal())) for name in "abcde"}
    used = [leaf for leaf in leaves.values() if random.random() < 0.6]
    loss = sum(leaf * leaf for leaf in used) + leaves["a"] * 3
    return exercise.unused(loss, leaves)
