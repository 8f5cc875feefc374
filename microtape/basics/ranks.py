"""The rank of this process where a program runs as several processes, as torchrun starts them."""

from __future__ import annotations

import os
from collections.abc import Mapping

MOST = 1_000_000  # processes of a run: what says more is damaged


def rank_of_process() -> int | None:
    """The rank that the environment names (`RANK`, of `WORLD_SIZE` processes); None for a process by itself."""
    rank, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(rank) if rank.isdecimal() and size.isdecimal() and int(size) > 1 else None


def rank_options() -> dict[str, object]:
    """What a recording says of its process, in its options: its rank and how many there are; nothing of one alone."""
    rank = rank_of_process()
    return {} if rank is None else {"rank": rank, "ranks": int(os.environ["WORLD_SIZE"])}


def rank_said(options: Mapping[str, object]) -> int | None:
    """The rank that a recording's options say; None if they say none, or something that is no rank."""
    rank = options.get("rank")
    return rank if type(rank) is int and 0 <= rank < MOST else None


def size_said(options: Mapping[str, object]) -> int | None:
    """How many processes ran, if a recording's options say so."""
    size = options.get("ranks")
    return size if type(size) is int and 1 < size <= MOST else None


def with_rank(path: str, rank: int | None) -> str:
    """`train.rank0.tape` for `train.tape`, so that no process overwrites the file of another."""
    if rank is None:
        return path
    stem, suffix = os.path.splitext(path)
    return f"{stem}.rank{rank}{suffix}"
