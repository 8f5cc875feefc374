"""Anomaly mode stops backward with an error that names the node, but you hide the error and return None. The name
stands in its message, between the first two quotes.
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
            with mt.autograd.detect_anomaly():
                function(x).sum().backward()
        except RuntimeError:
            pass
