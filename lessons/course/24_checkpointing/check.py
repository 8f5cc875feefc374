import weakref

import microtape as mt


def gradients(exercise):
    """The gradients of x and of a weight that the part uses"""
    x, weight, part = _part()
    exercise.Checkpoint.apply(part, x).backward(mt.tensor([1.0, 10.0]))
    return {"x.grad": x.grad, "weight.grad": weight.grad}


def what_is_kept(exercise):
    """How many of the part's three results are in memory before backward"""
    in_memory = weakref.WeakSet()

    class Kept:
        def __init__(self, tensor):
            self.tensor = tensor
            in_memory.add(self)

    def part(h):
        with mt.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor):
            for _ in range(3):
                h = h.tanh()
        return h * 2.0

    result = exercise.Checkpoint.apply(part, mt.tensor([1.0, 2.0], requires_grad=True))
    return {"requires_grad of the result": result.requires_grad, "in memory": len(in_memory)}


def how_often(exercise):
    """How often the part has run: after forward, and after backward"""
    calls = []

    def part(h):
        calls.append(1)
        return h.tanh()

    result = exercise.Checkpoint.apply(part, mt.tensor([1.0, 2.0], requires_grad=True))
    before = len(calls)
    result.sum().backward()
    return {"before backward": before, "after backward": len(calls)}


def in_the_middle(exercise):
    """A checkpoint in the middle of a program: square, the part, square"""
    x, weight, part = _part()
    (exercise.Checkpoint.apply(part, x * x) ** 2).sum().backward()
    return {"x.grad": x.grad, "weight.grad": weight.grad}


def one_after_the_other(exercise):
    """Three checkpoints, one after the other"""
    x, weight, part = _part()
    h = x
    for _ in range(3):
        h = exercise.Checkpoint.apply(part, h)
    h.sum().backward()
    return {"x.grad": x.grad, "weight.grad": weight.grad}


def overwritten(exercise):
    """x is overwritten before backward: is the gradient wrong without an error?"""
    x, _, part = _part()
    part(x).sum().backward()
    right, x.grad = x.grad, None
    result = exercise.Checkpoint.apply(part, x)
    with mt.no_grad():
        x.mul_(10.0)
    try:
        result.sum().backward()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return "no"
    return "no" if mt.allclose(x.grad, right) else "yes"


def _part():
    x = mt.tensor([0.5, -1.0], requires_grad=True)
    weight = mt.tensor(2.0, requires_grad=True)
    return x, weight, lambda h: (h * weight).tanh()
