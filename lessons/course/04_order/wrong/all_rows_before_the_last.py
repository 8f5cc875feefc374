"""You leave out the rows after `last` and visit every row before it. Some of those may lead nowhere
too.
"""


def order(rows, last):
    results = [row[0] for row in rows]
    return rows[results.index(last) :: -1]
