"""The findings of several processes as a report: each once, with the ranks that it holds for."""

from __future__ import annotations

import dataclasses
import glob
import re
import shlex
from collections.abc import Sequence
from typing import get_args

from microtape.recording.findings import Finding
from microtape.recording.findings.finding import RankKind
from microtape.recording.findings.wording import join
from microtape.recording.model.model import Recording
from microtape.recording.ranks import Ranks, rank_findings
from microtape.recording.ranks.parting import equal_parameters
from microtape.recording.ranks.parts import parts_text
from microtape.recording.ranks.words import rank_text
from tui.words.diagnosis import Diagnosis


@dataclasses.dataclass(frozen=True, slots=True)
class RankDiagnosis(Diagnosis):
    """The findings of the recordings of several processes."""

    ranks: Ranks | None = None
    files: Sequence[str] = ()  # in the order of the ranks; none of a script that was run just now

    @classmethod
    def of(cls, ranks: Ranks, files: Sequence[str]) -> RankDiagnosis:
        """Diagnose recordings; `files` are in the order of the ranks."""
        return cls(
            ranks.recordings[0], rank_findings(ranks), pattern_of(files) or join(files), ranks=ranks, files=files
        )

    def _at(self, finding: Finding) -> int:
        assert self.ranks is not None
        return self.ranks.numbers.index(finding.ranks[0])

    def recording_of(self, finding: Finding) -> Recording:
        """The recording of the first rank that has it."""
        assert self.ranks is not None
        return self.ranks.recordings[self._at(finding)]

    def whose(self, finding: Finding) -> str:
        """`ranks 0-3: `, unless the headline speaks of ranks itself."""
        return "" if finding.kind in get_args(RankKind) else f"{rank_text(finding.ranks)}: "

    def command(self, finding: Finding) -> str:
        """Opens all recordings for what only they show together, else that of the first rank."""
        if not self.files:
            return Diagnosis.command(self, finding)
        if finding.kind in get_args(RankKind):
            pattern = pattern_of(self.files)
            return f"microtape step {pattern}" if pattern else shlex.join(["microtape", "step", *self.files])
        return shlex.join(["microtape", "step", self.files[self._at(finding)]])


def pattern_of(files: Sequence[str]) -> str | None:
    """`train.rank*.tape` for `train.rank0.tape` and `train.rank1.tape`; None unless a shell takes it for just these."""
    split = [re.split(r"(\d+)", file) for file in files]
    parts = [set(part) for part in zip(*split, strict=False)]
    pattern = "".join("*" if len(part) > 1 else next(iter(part)) for part in parts)
    plain = re.fullmatch(r"[\w./+-]*\*[\w./+-]*", pattern)
    return pattern if plain and sorted(glob.glob(pattern)) == sorted(files) else None


def rank_summary(found: RankDiagnosis, searched: int = 0) -> str:
    """How many findings there are, in how many passes of which ranks, and what is equal.

    `searched` is the number of passes that were looked through, if they are more than those that were kept.
    """
    ranks, count = found.ranks, len(found.found)
    assert ranks is not None
    told = "nothing wrong was found" if not count else f"{count} finding{'' if count == 1 else 's'}"
    passes = max(len({number for numbers in ranks.passes for number in numbers}), searched)
    many = "1 pass" if passes == 1 else f"{passes:,} passes"
    text = f"{found.file}: {told} in {many} of {rank_text(ranks.numbers)}"
    equal = equal_parameters(ranks)
    if equal:
        text += f"; {equal:,} parameter{' is' if equal == 1 else 's are'} equal on all of them"
    parts = parts_text(ranks)
    if parts:
        text += f"; {parts}"
    if not ranks.shared:
        text += "; they have no pass in common, so nothing was compared"
    for number, recording in zip(ranks.numbers, ranks.recordings, strict=True):
        if recording.error is not None:
            first, *_ = recording.error.message.splitlines() or [""]
            text += f"; rank {number} raised {recording.error.type}: {first}"
    if ranks.missing:
        text += f" (of {rank_text(ranks.missing)} there is no recording here)"
    return text
