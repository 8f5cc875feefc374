"""Aligns two sequences: the longest common subsequence, as `diff` finds it for the lines of two files."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 1_000  # edits: beyond, the sequences have too little in common, and the time grows with the square


def aligned(a: Sequence[object], b: Sequence[object]) -> list[tuple[int, int]]:
    """Pairs of positions of equal items, rising in both (Myers, 1986).

    If more than MOST items would remain, only the pairs of the common beginning.
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    n, m = len(a) - start, len(b) - start
    reached = {1: 0}  # diagonal x - y -> the furthest x that was reached on it
    history: list[dict[int, int]] = []
    for edits in range(min(n + m, MOST) + 1):
        history.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
            )
            x = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            while x < n and x - diagonal < m and a[start + x] == b[start + x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= n and x - diagonal >= m:
                both = [(start + i, start + j) for i, j in _path(history, n, m)]
                return [(i, i) for i in range(start)] + both
    return [(i, i) for i in range(start)]


def _path(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The pairs on the way to the end, which the furthest points after each number of edits tell backwards."""
    pairs: list[tuple[int, int]] = []
    for edits in range(len(history) - 1, -1, -1):
        reached, diagonal = history[edits], x - y
        down = diagonal == -edits or (
            diagonal != edits and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
        )
        before = diagonal + 1 if down else diagonal - 1
        from_x = reached[before] if edits else 0
        from_y = from_x - before if edits else 0
        after = (from_x, from_y + 1) if down and edits else (from_x + 1, from_y) if edits else (0, 0)
        while x > after[0] and y > after[1]:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = from_x, from_y
    return pairs[::-1]
