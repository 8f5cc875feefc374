"""Your `order` goes back layer by layer. A result that is used again later is then visited before its whole
gradient has arrived.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    found = [last]
    for name in found:
        found += [one for one in dict.fromkeys(row_of.get(name, ())[2:]) if one not in found]
    return [row_of[name] for name in found if name in row_of]
