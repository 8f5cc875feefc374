"""The recordings of the processes of one run, in the order of their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations

from microtape.errors import RecordingError
from microtape.recording.comparing.matching import Matching
from microtape.recording.findings.program import Program
from microtape.recording.model.model import Recording


class Ranks:
    """The recordings of the processes of one run. A *place* is an index into `recordings`, which rise with the rank.

    Args:
        recordings: at least two, each of another rank of the same program. One that does not say its rank has the
            number of its position.
        names: what to call the files in a message.

    Raises:
        RecordingError: the recordings are not those of one run; the message says why.
    """

    def __init__(self, recordings: Sequence[Recording], names: Sequence[str] = ()) -> None:
        names = names or [f"recording {number + 1}" for number in range(len(recordings))]
        ranks = [_rank(one) for one in recordings]
        told = [number if rank is None else rank for number, rank in enumerate(ranks)]
        _check(recordings, told, names)
        order = sorted(range(len(recordings)), key=lambda at: told[at])
        self.order = tuple(order)
        """Which of the given recordings stands at each place."""
        self.recordings = tuple([recordings[at] for at in order])
        self.numbers = tuple([told[at] for at in order])
        """The rank at each place."""
        self._matchings: dict[tuple[int, int], Matching] = {}

    def __len__(self) -> int:
        return len(self.recordings)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks of the run whose recordings were not given, as far as the recordings say how many there were."""
        size = _size(self.recordings[0]) or 0
        return tuple([rank for rank in range(size) if rank not in self.numbers])

    @cached_property
    def programs(self) -> Sequence[Program]:
        """The look-ups of findings, for each place."""
        return [Program(one) for one in self.recordings]

    @cached_property
    def passes(self) -> Sequence[Mapping[int, int]]:
        """The number of a pass in the program, from 0 -> its position in the recording, for each place."""
        return [{one.index: at for at, one in enumerate(recording.passes)} for recording in self.recordings]

    @cached_property
    def shared(self) -> Sequence[int]:
        """The numbers of the passes, from 0, that at least two ranks have."""
        found = Counter(number for numbers in self.passes for number in numbers)
        return sorted(number for number, count in found.items() if count > 1)

    def having(self, number: int) -> list[int]:
        """The places that have this pass."""
        return [place for place, numbers in enumerate(self.passes) if number in numbers]

    def matching(self, one: int, other: int) -> Matching:
        """Which node of the recording at one place is which of another's."""
        known = self._matchings.get((one, other))
        if known is None:
            pairs = [(at, self.passes[other][number]) for number, at in self.passes[one].items()
                     if number in self.passes[other]]  # fmt: skip
            known = Matching(self.recordings[one], self.recordings[other], pairs)
            self._matchings[one, other] = known
        return known

    def counterpart(self, node: int, one: int, other: int) -> int | None:
        """The node at another place that matches a node at this one; None if there is none."""
        if one == other:
            return node
        if one and other:  # by way of the lowest rank, so that not every two have to be matched
            lowest = self.counterpart(node, one, 0)
            if lowest is not None:
                return self.counterpart(lowest, 0, other)
        return self.matching(one, other).of_a(node) if one < other else self.matching(other, one).of_b(node)


def _check(recordings: Sequence[Recording], ranks: Sequence[int], names: Sequence[str]) -> None:
    """See `Ranks`."""
    if len(recordings) < 2:
        raise RecordingError("one recording has no other ranks beside it: give those of at least two processes")
    for (one, a), (other, b) in combinations(enumerate(recordings), 2):
        if ranks[one] == ranks[other]:
            raise RecordingError(
                f"{names[one]} and {names[other]} are both of rank {ranks[one]}: give one of each rank"
            )
        if a.title != b.title:
            raise RecordingError(
                f"{names[one]} is of {a.title}, {names[other]} of {b.title}: ranks run the same program; "
                "`microtape diff` compares two recordings"
            )
        if (_size(a) or _size(b)) != (_size(b) or _size(a)):
            raise RecordingError(
                f"{names[one]} is of a run of {_size(a)} processes, {names[other]} of {_size(b)}: "
                "is one of them left over from another run?"
            )
        if a.sources != b.sources and any(b.sources.get(file, text) != text for file, text in a.sources.items()):
            raise RecordingError(
                f"the program has changed between {names[one]} and {names[other]}: record all ranks again"
            )


def _rank(recording: Recording) -> int | None:
    """The rank that the recording says; None if it says none."""
    rank = recording.options.get("rank")
    return rank if type(rank) is int else None


def _size(recording: Recording) -> int | None:
    """How many processes ran, if the recording says so."""
    size = recording.options.get("ranks")
    return size if type(size) is int else None
