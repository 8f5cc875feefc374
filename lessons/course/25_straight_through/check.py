import microtape as mt


def sign(exercise):
    """Sign of -2, -0.5, 0, 0.5 and 3"""
    return exercise.Sign.apply(mt.tensor([-2.0, -0.5, 0.0, 0.5, 3.0], requires_grad=True)).detach()


def sign_gradient(exercise):
    """The gradient of x in Sign when 1, 2, 3, 4 and 5 arrive"""
    x = mt.tensor([-2.0, -0.5, 0.0, 0.5, 3.0], requires_grad=True)
    exercise.Sign.apply(x).backward(mt.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))
    return x.grad


def bounds(exercise):
    """The same at the bounds, -1 and 1, and just beyond"""
    x = mt.tensor([-1.01, -1.0, 1.0, 1.01], requires_grad=True)
    exercise.Sign.apply(x).backward(mt.tensor([1.0, 2.0, 3.0, 4.0]))
    return x.grad


def overwritten(exercise):
    """x is overwritten before backward: is the gradient wrong without an error?"""
    x = mt.tensor([0.5], requires_grad=True)
    result = exercise.Sign.apply(x)
    with mt.no_grad():
        x.mul_(10.0)
    try:
        result.backward()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "no"
    return "no" if x.grad.item() == 1.0 else "yes"


def descent(exercise):
    """Eight steps of descent: the sign of 0.9 should become -1"""
    weight = mt.tensor(0.9, requires_grad=True)
    signs = []
    for _ in range(8):
        sign = exercise.Sign.apply(weight)
        (slope,) = mt.autograd.grad((sign + 1) ** 2, weight)
        with mt.no_grad():
            weight -= 0.05 * slope
        signs.append(sign.item())
    return {"the signs": signs, "the weight": weight.item()}


def through_values(exercise):
    """straight_through(floor, x) at [-0.5, 0.5, 2.25]"""
    return exercise.straight_through(mt.floor, mt.tensor([-0.5, 0.5, 2.25], requires_grad=True)).detach()


def through_gradient(exercise):
    """The gradient of x in straight_through(square, x) when 1, 2 and 3 arrive"""
    x = mt.tensor([-0.5, 0.5, 2.0], requires_grad=True)
    exercise.straight_through(lambda x: x * x, x).backward(mt.tensor([1.0, 2.0, 3.0]))
    return x.grad
