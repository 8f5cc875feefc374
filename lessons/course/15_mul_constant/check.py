import microtape as mt


def power(exercise):
    """Power.apply(3, [1, 2, 3])"""
    return exercise.Power.apply(3, _leaf([1.0, 2.0, 3.0])).detach()


def power_gradient(exercise):
    """The gradient of the sum of Power.apply(3, [1, 2, 3])"""
    x = _leaf([1.0, 2.0, 3.0])
    exercise.Power.apply(3, x).sum().backward()
    return x.grad


def power_gradient_times(exercise):
    """The gradient of Power.apply(4, [1, 2, 3]) when 1, 10 and 100 arrive"""
    x = _leaf([1.0, 2.0, 3.0])
    exercise.Power.apply(4, x).backward(mt.tensor([1.0, 10.0, 100.0]))
    return x.grad


def power_overwritten(exercise):
    """The x of Power is overwritten before backward: is the gradient wrong without an error?"""
    x = _leaf([1.0, 2.0, 3.0])
    z = exercise.Power.apply(3, x)
    with mt.no_grad():
        x.mul_(100.0)
    try:
        z.sum().backward()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "no"
    return "no" if x.grad.tolist() == [3.0, 12.0, 27.0] else "yes"


def pick(exercise):
    """Pick.apply([1, 2, 3], 2)"""
    return exercise.Pick.apply(_leaf([1.0, 2.0, 3.0]), 2).detach()


def pick_gradient(exercise):
    """The gradient of 10 · Pick.apply([1, 2, 3], 2)"""
    x = _leaf([1.0, 2.0, 3.0])
    (exercise.Pick.apply(x, 2) * 10).backward()
    return x.grad


def pick_row(exercise):
    """Pick.apply of a 3 × 2 table, row 1: the gradient when 5 and 7 arrive"""
    x = _leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    exercise.Pick.apply(x, 1).backward(mt.tensor([5.0, 7.0]))
    return x.grad


def pick_keeps(exercise):
    """How many of 1000 numbers Pick keeps in tensors"""
    kept = []

    def backward(ctx, grad_z):
        kept.extend(one for one in [*vars(ctx).values(), *ctx.saved_tensors] if isinstance(one, mt.Tensor))
        return mt.zeros(1000), None

    watched = type("Pick", (exercise.Pick,), {"backward": staticmethod(backward)})
    watched.apply(mt.zeros(1000, requires_grad=True), 3).backward()
    return sum(one.numel() for one in kept)


def _leaf(values):
    return mt.tensor(values, requires_grad=True)
