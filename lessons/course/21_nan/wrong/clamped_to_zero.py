"""`clamp(min=0)` makes negative numbers 0 before the root, and at 0 the derivative of the root is infinite:
the gradient is infinity at 0 and NaN below it. Put a number above 0 there, and replace its root by 0.
"""

import warnings

import microtape as mt


def root_or_zero(x):
    return x.clamp(min=0).sqrt()


def log_sum_exp(x):
    m = x.detach().max()
    return m + (x - m).exp().sum().log()


def culprit(function, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with mt.autograd.detect_anomaly():
                function(x).sum().backward()
        except RuntimeError as error:
            if "returned nan" not in str(error):
                raise
            return str(error).split("'")[1]
    return None
