"""The recordings of the processes of one run, in the order of their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from microtape.basics.ranks import rank_said, size_said
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
        ranks = [rank_said(one.options) for one in recordings]
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
        sizes = [size for one in self.recordings if (size := size_said(one.options)) is not None]
        known = set(self.numbers)
        return tuple([rank for rank in range(max(sizes, default=0)) if rank not in known])

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
    """See `Ranks`. Each recording is compared with what all before it have said: there may be thousands."""
    if len(recordings) < 2:
        raise RecordingError("one recording has no other ranks beside it: give those of at least two processes")
    of_rank: dict[int, str] = {}  # rank -> the name of its file
    sources: dict[str, tuple[str, str]] = {}  # file of the program -> its text, and the recording that has it
    sized: tuple[int, str] | None = None  # how many processes ran, and the recording that says so
    first, title = names[0], recordings[0].title
    for recording, rank, name in zip(recordings, ranks, names, strict=True):
        if rank in of_rank:
            raise RecordingError(f"{of_rank[rank]} and {name} are both of rank {rank}: give one of each rank")
        of_rank[rank] = name
        if recording.title != title:
            raise RecordingError(
                f"{first} is of {title}, {name} of {recording.title}: ranks run the same program; "
                "`microtape diff` compares two recordings"
            )
        if (size := size_said(recording.options)) is not None:
            sized = sized or (size, name)
            if sized[0] != size:
                raise RecordingError(
                    f"{sized[1]} is of a run of {sized[0]} processes, {name} of {size}: "
                    "is one of them left over from another run?"
                )
        for file, text in recording.sources.items():
            known, other = sources.setdefault(file, (text, name))
            if known != text:
                raise RecordingError(f"the program has changed between {other} and {name}: record all ranks again")
