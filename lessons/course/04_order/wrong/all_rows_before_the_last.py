"""You leave out the rows after `last` and visit every row before it. Some of those may lead nowhere
too.
"""


def order(rows, last):
    results = [result for result, _ in rows]
    return results[results.index(last) :: -1]
