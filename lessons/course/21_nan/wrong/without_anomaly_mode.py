"""You do not switch anomaly mode on: without it a NaN is not an error."""

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
            function(x).sum().backward()
        except RuntimeError as error:
            if "returned nan" not in str(error):
                raise
            return str(error).split("'")[1]
    return None
