import warnings

import microtape as mt


def weight(exercise):
    """make_weight([1, 2, 3], 0.5)"""
    w = exercise.make_weight([1.0, 2.0, 3.0], 0.5)
    return {"the weight": w, "is_leaf": w.is_leaf, "requires_grad": w.requires_grad}


def weight_is_trained(exercise):
    """.grad of make_weight([1, 2], 2) after the backward of w · w, summed"""
    w = exercise.make_weight([1.0, 2.0], 2.0)
    (w * w).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return w.grad


def middle(exercise):
    """gradient_in_the_middle(x) at x = [1, 2], and x.grad afterwards"""
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"gradient of hidden": exercise.gradient_in_the_middle(x), "x.grad": x.grad}


def no_gradient(exercise):
    """why_none of a tensor that requires no gradient"""
    return exercise.why_none(mt.tensor([1.0, 2.0]))


def a_result(exercise):
    """why_none of the result of an operation, after backward"""
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    hidden = w * 3
    hidden.sum().backward()
    return exercise.why_none(hidden)


def a_leaf(exercise):
    """why_none of a leaf before backward"""
    return exercise.why_none(mt.tensor([1.0, 2.0], requires_grad=True))


def retained(exercise):
    """why_none of a result with retain_grad, before backward"""
    hidden = mt.tensor([1.0, 2.0], requires_grad=True) * 3
    hidden.retain_grad()
    return exercise.why_none(hidden)
