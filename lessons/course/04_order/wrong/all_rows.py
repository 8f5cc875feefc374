"""You visit every row of the tape. Leave out the rows that `last` does not depend on: no gradient
arrives there.
"""


def order(rows, last):
    return rows[::-1]
