import microtape as mt


def one_loss(exercise):
    """One loss, 3·h, with h = x · x at x = 2"""
    return _try(exercise, lambda h: h * 3)


def two_losses(exercise):
    """Two losses, 3·h and h · h, with h = x · x at x = 2"""
    return _try(exercise, lambda h: h * 3, lambda h: h * h)


def three_losses(exercise):
    """Three losses, 3·h, h · h and h + 1, with h = x · x at x = 2"""
    return _try(exercise, lambda h: h * 3, lambda h: h * h, lambda h: h + 1)


def the_same_loss_twice(exercise):
    """The same function twice, 3·h, with h = x · x at x = 2"""

    def loss(h):
        return h * 3

    return _try(exercise, loss, loss)


def _try(exercise, *losses):
    made = []

    def shared(x):
        made.append(x * x)
        return made[-1]

    x = mt.tensor(2.0, requires_grad=True)
    gradients = exercise.gradients(x, shared, list(losses))
    return {
        "the gradients": gradients,
        "calls of shared": len(made),
        "the graph has been freed": all(_is_freed(h) for h in made),
    }


def _is_freed(h):
    try:
        h.backward()
    except RuntimeError:
        return True
    return False
