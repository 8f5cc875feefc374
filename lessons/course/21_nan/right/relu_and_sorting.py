"""`masked_fill`, used twice, replaces the numbers that are not positive. The largest number comes
from sorting. A regular expression finds the name.
"""

import re

import microtape as mt


def root_or_zero(x):
    bad = x <= 0
    return x.masked_fill(bad, 1.0).sqrt().masked_fill(bad, 0.0)


def log_sum_exp(x):
    largest = x.sort(descending=True).values[0]
    return largest + ((x - largest).exp().sum()).log()


def culprit(function, x):
    try:
        with mt.autograd.set_detect_anomaly(True):
            mt.autograd.grad(function(x).sum(), x)
    except RuntimeError as error:
        found = re.match(r"Function '(\w+)' returned nan", str(error))
        if found is None:
            raise
        return found[1]
