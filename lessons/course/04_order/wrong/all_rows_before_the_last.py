"""You leave out what came after `last`, and visit everything before it. Of those too, some may
lead nowhere.
"""


def order(rows, last):
    results = [result for result, _ in rows]
    return results[results.index(last) :: -1]
