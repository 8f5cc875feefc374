"""You switch anomaly mode on and leave it on: every later backward is slow, and stops at the first NaN. A `with` block
switches it off again.
"""

import warnings

import microtape as mt


def root_or_zero(x):
    inside = mt.where(x > 0, x, 1.0)
    return mt.where(x > 0, inside.sqrt(), 0.0)


def log_sum_exp(x):
    m = x.detach().max()
    return m + (x - m).exp().sum().log()


def culprit(function, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mt.autograd.set_detect_anomaly(True)
            function(x).sum().backward()
        except RuntimeError as error:
            if "returned nan" not in str(error):
                raise
            return str(error).split("'")[1]
    return None
