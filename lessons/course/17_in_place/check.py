import microtape as mt


def loss_value(exercise):
    """loss(x) at x = [0, 1]"""
    return exercise.loss(mt.tensor([0.0, 1.0])).item()


def loss_gradient(exercise):
    """The gradient of loss(x) at x = [0, 1]"""
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    exercise.loss(x).backward()
    return x.grad


def loss_leaves_x_alone(exercise):
    """x = [0, 1] after loss(x)"""
    x = mt.tensor([0.0, 1.0])
    exercise.loss(x)
    return x


def squares(exercise):
    """SquareInPlace of y = [1, -2, 3]: y afterwards"""
    _, y = _values()
    same = exercise.SquareInPlace.apply(y)
    return {"y": y.detach(), "the result is y itself": same is y}


def gradient(exercise):
    """The gradient at [1, -2, 3] of the sum of what SquareInPlace returns"""
    x, y = _values()
    exercise.SquareInPlace.apply(y).sum().backward()
    return x.grad


def gradient_times(exercise):
    """The gradient at [1, -2, 3] when the result is multiplied by 10"""
    x, y = _values()
    (exercise.SquareInPlace.apply(y) * 10).sum().backward()
    return x.grad


def gradient_of_y(exercise):
    """The gradient at [1, -2, 3] of the sum of y itself, after the squaring"""
    x, y = _values()
    exercise.SquareInPlace.apply(y)
    y.sum().backward()
    return x.grad


def kept_before(exercise):
    """y * y saved y before it was squared: is its backward an error?"""
    y = _values()[1]
    kept = y * y
    exercise.SquareInPlace.apply(y)
    try:
        kept.sum().backward()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "yes"
    return "no"


def _values():
    x = mt.tensor([1.0, -2.0, 3.0], requires_grad=True)
    return x, x * 1
