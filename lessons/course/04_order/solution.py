# The order of backward: one way to write it.
#
# The tape itself is the plan. Read from its end, it gives every result after
# all rows that use it. The rows that `last` does not depend on are left out.


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            visited.append(result)
            needed.update(operands)
    return visited


if __name__ == "__main__":
    rows = [("a", ("x",)), ("b", ("a",)), ("z", ("b", "a"))]
    print(order(rows, "z"))
