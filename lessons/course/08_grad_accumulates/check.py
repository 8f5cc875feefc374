import microtape as mt


def one_loss(exercise):
    """One loss: x = 3 at w = 2"""
    return exercise.gradient_of_each(_leaf(2.0), [3.0])


def three_losses(exercise):
    """Three losses: x = 1, 3 and 2 at w = 2"""
    return exercise.gradient_of_each(_leaf(2.0), [1.0, 3.0, 2.0])


def something_was_there(exercise):
    """w.grad is 100 before the call, from an earlier backward"""
    w = _leaf(2.0)
    (w * 100.0).backward()
    return exercise.gradient_of_each(w, [1.0, 3.0])


def nothing_is_left(exercise):
    """What is in w.grad after the call"""
    w = _leaf(2.0)
    exercise.gradient_of_each(w, [1.0, 3.0])
    return {"w.grad": w.grad}


def not_reached(exercise):
    """was_reached(w) where no backward has been called"""
    return exercise.was_reached(_leaf(2.0))


def reached(exercise):
    """was_reached(w) after (w · 3).backward()"""
    w = _leaf(2.0)
    (w * 3.0).backward()
    return exercise.was_reached(w)


def reached_by_zero(exercise):
    """was_reached(w) after (w · 0).backward()"""
    w = _leaf(2.0)
    (w * 0.0).backward()
    return exercise.was_reached(w)


def _leaf(value):
    return mt.tensor(value, requires_grad=True)
