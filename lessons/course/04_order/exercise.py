# The order of backward.
#
# `rows` is a tape: (result, operands), in the order in which they
# ran. An operand is the result of an earlier row or a leaf, and a
# leaf has no row.
#
#     rows = [
#         ("a", ("x",)),
#         ("b", ("a",)),
#         ("z", ("b", "a")),
#     ]
#
#     order(rows, "z")    ["z", "b", "a"]
#
# Give the results in the order in which backward visits their rows
# when it starts from `last`: each result once, after all rows that
# use it, and only the results that `last` depends on. If there is a
# choice, the row that was written later goes first.
#
# Complete the function.


def order(rows, last):
    """The results that backward visits, in order."""
    raise NotImplementedError


if __name__ == "__main__":
    rows = [("a", ("x",)), ("b", ("a",)), ("z", ("b", "a"))]
    print(order(rows, "z"))
