"""The rank of this process where a program runs as several processes, as torchrun or the program starts them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

MOST = 1_000_000  # processes of a run: what says more is damaged


def rank_of_process() -> int | None:
    """The rank of this process; None for one by itself."""
    found = _rank_and_size()
    return None if found is None else found[0]


def rank_options(number: int | None = None) -> dict[str, object]:
    """What a recording says of its process, in its options: its rank and how many there are; nothing of one alone.

    `number` is that of a process which the program has started: its rank where nothing else tells it.
    """
    found = _rank_and_size()
    if found is not None:
        return {"rank": found[0], "ranks": found[1]}
    return {} if number is None else {"rank": number}


def _rank_and_size() -> tuple[int, int] | None:
    """What torchrun has put into the environment (`RANK`, `WORLD_SIZE`), or else torch's process group says."""
    rank, size = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if rank.isdecimal() and size.isdecimal() and int(size) > 1:
        return int(rank), int(size)
    group = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized() or group.get_world_size() == 1:
        return None
    return group.get_rank(), group.get_world_size()


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
