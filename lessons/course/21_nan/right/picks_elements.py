"""Only the positive numbers go into the root: they are picked out, and their roots are put into a
tensor of zeros. The engine itself has a safe `logsumexp`.
"""

import microtape as mt


def root_or_zero(x):
    result = mt.zeros_like(x)
    result[x > 0] = x[x > 0].sqrt()
    return result


def log_sum_exp(x):
    return mt.logsumexp(x, 0)


def culprit(function, x):
    with mt.autograd.detect_anomaly():
        try:
            function(x).sum().backward()
        except RuntimeError as error:
            message = str(error)
            if not message.startswith("Function '"):
                raise error
            begin = message.index("'") + 1
            return message[begin : message.index("'", begin)]
