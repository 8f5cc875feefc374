import microtape as mt


def moves(exercise):
    """step(w, 0.1) at w = 3 with a gradient of 2: the new w"""
    w = _with_gradient()
    exercise.step(w, 0.1)
    return w.item()


def is_still_a_leaf(exercise):
    """What w is after step(w, 0.1)"""
    w = _with_gradient()
    exercise.step(w, 0.1)
    return {"is_leaf": w.is_leaf, "requires_grad": w.requires_grad, "w.grad": w.grad}


def goes_on(exercise):
    """Three steps of training on w² with rate 0.25, starting at w = 8"""
    w = mt.tensor(8.0, requires_grad=True)
    for _ in range(3):
        w.grad = None
        (w * w).backward()
        exercise.step(w, 0.25)
    return w.item()


def value(exercise):
    """loss_for(7, 4): its value"""
    return exercise.loss_for(mt.tensor(7.0, requires_grad=True), mt.tensor(4.0)).item()


def guess_gets_it(exercise):
    """loss_for(guess, target) at 7 and 4, both leaves: their gradients"""
    guess, target = mt.tensor(7.0, requires_grad=True), mt.tensor(4.0, requires_grad=True)
    exercise.loss_for(guess, target).backward()
    return {"guess.grad": guess.grad, "target.grad": target.grad}


def target_from_the_weight(exercise):
    """The gradient of w in loss_for(w · 4, w · w) at w = 3"""
    w = mt.tensor(3.0, requires_grad=True)
    exercise.loss_for(w * 4, w * w).backward()
    return w.grad


def target_is_not_changed(exercise):
    """Backward can still go through the target elsewhere"""
    w = mt.tensor(3.0, requires_grad=True)
    target = w * w
    exercise.loss_for(mt.tensor(1.0, requires_grad=True), target)
    return target.requires_grad


def _with_gradient():
    w = mt.tensor(3.0, requires_grad=True)
    (w * 2).backward()
    return w


def at_random(exercise, random):
    w, other, rate = random.normal(size=3).tolist()
    w = mt.tensor(w, requires_grad=True)
    loss = exercise.loss_for(w * other, w + other)
    loss.backward()
    exercise.step(w, rate)
    return {"loss": loss.item(), "w": w.item(), "w.grad": w.grad}
