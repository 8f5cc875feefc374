import microtape as mt


def outputs(exercise):
    """The three outputs for [3, -1, 0.5, 0]"""
    return [output.detach() for output in exercise.Parts.apply(_x())]


def which_have_a_derivative(exercise):
    """Which of the outputs require a gradient"""
    gains, losses, mask = exercise.Parts.apply(_x())
    return {"gains": gains.requires_grad, "losses": losses.requires_grad, "mask": mask.requires_grad}


def from_gains(exercise):
    """The gradient of x when gains receives 1, 10, 100 and 1000"""
    return _gradient(exercise, 0)


def from_losses(exercise):
    """The gradient of x when losses receives 1, 10, 100 and 1000"""
    return _gradient(exercise, 1)


def from_both(exercise):
    """The gradient of x for the sum of 2 · gains + 5 · losses"""
    x = _x()
    gains, losses, _ = exercise.Parts.apply(x)
    (2 * gains + 5 * losses).sum().backward()
    return x.grad


def with_the_mask(exercise):
    """The gradient of x for the sum of gains · mask + losses · (7 - mask)"""
    x = _x()
    gains, losses, mask = exercise.Parts.apply(x)
    (gains * mask + losses * (7 - mask)).sum().backward()
    return x.grad


def _gradient(exercise, number):
    x = _x()
    exercise.Parts.apply(x)[number].backward(mt.tensor([1.0, 10.0, 100.0, 1000.0]))
    return x.grad


def _x():
    return mt.tensor([3.0, -1.0, 0.5, 0.0], requires_grad=True)
