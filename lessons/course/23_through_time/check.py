import microtape as mt


def clip_long(exercise):
    """clip to 6.5: the gradients [3, 4] and [12], whose length together is 13"""
    return _clip(exercise, 6.5, [3.0, 4.0], [12.0])


def clip_short(exercise):
    """clip to 20: the same gradients are short enough"""
    return _clip(exercise, 20.0, [3.0, 4.0], [12.0])


def clip_without(exercise):
    """clip to 1: a parameter without a gradient, and one with [-3, 4]"""
    return _clip(exercise, 1.0, None, [-3.0, 4.0])


def clip_zeros(exercise):
    """clip to 1: a gradient of zeros"""
    return _clip(exercise, 1.0, [0.0, 0.0])


def clip_in_place(exercise):
    """clip to 1: is it the same tensor afterwards, with other numbers?"""
    weight = mt.tensor([1.0, 1.0], requires_grad=True)
    weight.grad = before = mt.tensor([3.0, 4.0])
    exercise.clip([weight], 1.0)
    return {"the same tensor": weight.grad is before, "its numbers": before}


def read_at_once(exercise):
    """read four letters, with one backward at the end"""
    return _read(exercise, 4, 4)


def read_in_twos(exercise):
    """read four letters, with a backward after every two"""
    return _read(exercise, 4, 2)


def read_with_a_rest(exercise):
    """read five letters, with a backward after every two: a single letter is left"""
    return _read(exercise, 5, 2)


def _clip(exercise, most, *gradients):
    parameters = []
    for values in gradients:
        parameters.append(mt.zeros(2 if values is None else len(values), requires_grad=True))
        parameters[-1].grad = None if values is None else mt.tensor(values)
    length = exercise.clip(parameters, most)
    return {"the length": length, "the gradients": [one.grad for one in parameters]}


def _read(exercise, count, every):
    weight = mt.tensor(0.5, requires_grad=True)
    went_back = []

    def loss(h):
        went_back.append(round(h.item(), 4))
        return h * h

    letters = [mt.tensor(1.0 + i) for i in range(count)]
    h = exercise.read(lambda h, letter: weight * h + letter, loss, mt.tensor(2.0), letters, every)
    return {
        "weight.grad": weight.grad,
        "the last h": h.item(),
        "it is cut": not h.requires_grad,
        "backward from h =": went_back,
    }


def at_random(exercise, random):
    gradients = [None if random.random() < 0.3 else random.integers(-5, 6, 2).astype(float).tolist() for _ in range(3)]
    length = sum(number**2 for one in gradients for number in one or ()) ** 0.5
    most = random.choice([length, 2 * length, length / 2, float(random.uniform(0.1, 9.0))])  # sometimes exactly as long
    count = int(random.integers(1, 6))
    return [_clip(exercise, float(most), *gradients), _read(exercise, count, int(random.integers(1, count + 2)))]
