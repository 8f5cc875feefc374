"""You replace NaN after the root. That helps forward, but not backward."""

import warnings

import microtape as mt


def root_or_zero(x):
    root = x.sqrt()
    return mt.where(root.isnan(), 0.0, root)


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
