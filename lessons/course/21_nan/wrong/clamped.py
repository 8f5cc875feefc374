"""You replace 0 by a tiny number. The derivative of its root is not infinite, but enormous, and the
result is not 0 either.
"""

import warnings

import microtape as mt


def root_or_zero(x):
    return (x.clamp(min=0) + 1e-12).sqrt()


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
