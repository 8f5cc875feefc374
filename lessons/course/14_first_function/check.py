import microtape as mt


def output(exercise):
    """The output for 3 rows of 3 numbers, a weight of 2 × 3 and a bias"""
    return exercise.Linear.apply(*_tensors()).detach()


def output_without_bias(exercise):
    """The output without a bias"""
    input, weight, _ = _tensors()
    return exercise.Linear.apply(input, weight, None).detach()


def gradients(exercise):
    """The gradients of input, weight and bias"""
    input, weight, bias = _tensors()
    _backward(exercise.Linear.apply(input, weight, bias))
    return {"input.grad": input.grad, "weight.grad": weight.grad, "bias.grad": bias.grad}


def gradients_without_bias(exercise):
    """The gradients of input and weight without a bias"""
    input, weight, _ = _tensors()
    _backward(exercise.Linear.apply(input, weight, None))
    return {"input.grad": input.grad, "weight.grad": weight.grad}


def only_the_weight(exercise):
    """What backward returns when only the weight needs a gradient"""
    return _returned(exercise, (False, True, False))


def all_but_the_weight(exercise):
    """What backward returns when only the input and the bias need a gradient"""
    return _returned(exercise, (True, False, True))


def overwritten(exercise):
    """The weight is overwritten before backward: is the gradient wrong without an error?"""
    input, weight, bias = _tensors()
    result = exercise.Linear.apply(input, weight, bias)
    right = mt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) @ weight.detach()
    with mt.no_grad():
        weight.mul_(100.0)
    try:
        _backward(result)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "no"
    return "no" if mt.allclose(input.grad, right) else "yes"


def _returned(exercise, needed):
    """What backward itself returns: the engine drops what is not needed."""
    returned = []

    def backward(ctx, grad_output):
        returned.append(exercise.Linear.backward(ctx, grad_output))
        return returned[0]

    watched = type("Linear", (exercise.Linear,), {"backward": staticmethod(backward)})
    _backward(watched.apply(*(one.requires_grad_(need) for one, need in zip(_tensors(), needed, strict=True))))
    return dict(zip(("for the input", "for the weight", "for the bias"), returned[0], strict=True))


def _tensors():
    return (
        mt.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0], [6.0, 8.0, 9.0]], requires_grad=True),
        mt.tensor([[0.5, -1.0, 2.0], [2.0, 1.0, 0.0]], requires_grad=True),
        mt.tensor([0.1, -0.1], requires_grad=True),
    )


def _backward(result):
    result.backward(mt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
