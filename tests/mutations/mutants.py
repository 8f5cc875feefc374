"""The damaged files by number: the same number is the same file, so that a failure can be seen again."""

from __future__ import annotations

from pathlib import Path
from random import Random

import tui.recordings
from microtape.recording.file.tape_file import load, to_bytes
from tests.mutations.content import changed_arrays, changed_json, changed_zip, members_of, zipped
from tests.mutations.records import RecordMutator

_FOLDERS = (Path(tui.recordings.__path__[0]), Path(__file__).parents[1] / "microtape/recording/file/golden")
ORIGINALS = sorted(path for folder in _FOLDERS for path in folder.glob("*.tape"))


class Mutants:
    """Makes damaged files of the recordings that come with the stepper, and of files of older formats.

    Small files are damaged more often: a view of a large one takes fifty times as long, and shows no other fields.
    """

    def __init__(self) -> None:
        self._files = [path.read_bytes() for path in ORIGINALS]
        self._weights = [1 / len(data) for data in self._files]
        self._recordings = [load(path) for path in ORIGINALS]
        self._records = RecordMutator(self._recordings)

    def mutant(self, number: int) -> bytes:
        """A damaged file. Most are damaged in what the records say, fewer in the JSON, fewest in arrays and archive."""
        random = Random(number)
        which = random.choices(range(len(ORIGINALS)), self._weights)[0]
        kind = random.randrange(20)
        if kind < 10:
            recording = self._recordings[which]
            for _ in range(random.choice((1, 1, 2, 3, 8))):
                recording = self._records.changed(recording, random)
            data = to_bytes(recording)
            return data if kind else zipped(changed_json(members_of(data), random))
        members = members_of(self._files[which])
        if kind < 17:
            return zipped(changed_json(members, random))
        if kind < 19:
            return zipped(changed_arrays(members, random))
        return changed_zip(members, random)
