"""Ranks in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def rank_text(ranks: Sequence[int]) -> str:
    """`rank 2`, `ranks 0-3`, `ranks 0, 2 and 5-7`."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(rank) for rank in run]
    text = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return f"rank{'' if len(ranks) == 1 else 's'} {text}"


def verb(ranks: Sequence[object], one: str, several: str) -> str:
    """`has` for one rank, `have` for several."""
    return one if len(ranks) == 1 else several
