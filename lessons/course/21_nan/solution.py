# Against NaN: one way to write it.
#
# Keep dangerous numbers away from infinite derivatives and from overflow.

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
        except RuntimeError as error:
            if "returned nan" not in str(error):
                raise
            return str(error).split("'")[1]
    return None


if __name__ == "__main__":
    x = mt.tensor([4.0, 0.0, -1.0], requires_grad=True)
    root_or_zero(x).sum().backward()
    print(x.grad)
    print(log_sum_exp(mt.tensor([1000.0, 1000.0])))
    print(culprit(lambda x: x.sqrt() * 0, x))
