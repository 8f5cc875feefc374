import warnings

import microtape as mt


def roots(exercise):
    """root_or_zero of 4, 0, -1 and 0.25"""
    return exercise.root_or_zero(mt.tensor([4.0, 0.0, -1.0, 0.25])).detach()


def slopes_of_the_root(exercise):
    """root_or_zero: the gradients at 4, 0, -1 and 0.25 when 1, 2, 3 and 4 arrive"""
    x = mt.tensor([4.0, 0.0, -1.0, 0.25], requires_grad=True)
    exercise.root_or_zero(x).backward(mt.tensor([1.0, 2.0, 3.0, 4.0]))
    return x.grad


def ordinary_numbers(exercise):
    """log_sum_exp of 1, 2 and 3"""
    return _log_sum_exp(exercise, [1.0, 2.0, 3.0])


def large_numbers(exercise):
    """log_sum_exp of 1000, 999 and 900"""
    return _log_sum_exp(exercise, [1000.0, 999.0, 900.0])


def far_apart(exercise):
    """log_sum_exp of 150, 0 and 0"""
    return _log_sum_exp(exercise, [150.0, 0.0, 0.0])


def small_numbers(exercise):
    """log_sum_exp of -1000 and -1001"""
    return _log_sum_exp(exercise, [-1000.0, -1001.0])


def equal_numbers(exercise):
    """log_sum_exp of 500 and 500: both are the largest"""
    return _log_sum_exp(exercise, [500.0, 500.0])


def no_culprit(exercise):
    """culprit of x², at 3 and 0"""
    return _culprit(exercise, lambda x: x**2, [3.0, 0.0])


def culprit_root(exercise):
    """culprit of √x · 0, at 4 and 0"""
    return _culprit(exercise, lambda x: x.sqrt() * 0.0, [4.0, 0.0])


def culprit_behind_others(exercise):
    """culprit of exp(√(x - 1)·0 + x²), at 2 and 1: other nodes only pass it on"""
    return _culprit(exercise, lambda x: ((x - 1).sqrt() * 0.0 + x * x).exp(), [2.0, 1.0])


def culprits_of_other_operations(exercise):
    """culprit of ln x · 0, of x / x and of e²⁰⁰ˣ / e²⁰⁰ˣ, at 2 and 0"""
    return {
        "ln x · 0": _culprit(exercise, lambda x: x.log() * 0.0, [2.0, 0.0]),
        "x / x": _culprit(exercise, lambda x: x / x, [2.0, 0.0]),
        "e²⁰⁰ˣ / e²⁰⁰ˣ": _culprit(exercise, lambda x: (x * 200).exp() / (x * 200).exp(), [2.0, 0.0]),
    }


def other_errors(exercise):
    """culprit of a function that fails for another reason"""

    def function(x):
        y = x.exp()
        y += 1
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = _culprit(exercise, function, [1.0])
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                raise
            return "lets the error through"
    return f"returns {found!r}"


def anomaly_mode(exercise):
    """culprit of √x · 0 and of x²: is anomaly mode on during backward, and afterwards?"""
    return {
        "√x · 0": _anomaly_mode(exercise, lambda x: x.sqrt() * 0.0),
        "x²": _anomaly_mode(exercise, lambda x: x**2),
    }


def at_random(exercise, random):
    values = (random.normal(size=4) * random.choice([1.0, 100.0])).tolist()
    x = mt.tensor([*values, 0.0], requires_grad=True)
    root = exercise.root_or_zero(x)
    root.backward(mt.tensor(random.normal(size=5).tolist()))
    culprits = [_culprit(exercise, function, values) for function in (mt.sqrt, mt.log, mt.exp)]
    return [root.detach(), x.grad, _log_sum_exp(exercise, values), *culprits]


def _log_sum_exp(exercise, values):
    x = mt.tensor(values, requires_grad=True)
    result = exercise.log_sum_exp(x)
    result.backward()
    return {"the value": result.item(), "x.grad": x.grad}


def _culprit(exercise, function, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return exercise.culprit(function, mt.tensor(values, requires_grad=True))
        finally:
            mt.autograd.set_detect_anomaly(False)


def _anomaly_mode(exercise, function):
    during = []

    def watched(x):
        result = function(x)
        result.register_hook(lambda gradient: during.append(mt.is_anomaly_enabled()))
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exercise.culprit(watched, mt.tensor([4.0, 0.0], requires_grad=True))
            return {"during backward": any(during), "afterwards": mt.is_anomaly_enabled()}
        finally:
            mt.autograd.set_detect_anomaly(False)
