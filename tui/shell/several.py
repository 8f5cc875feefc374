"""Several recordings on the command line: those of the processes of one run, one beside the other."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from glob import glob
from typing import TYPE_CHECKING, NamedTuple

from microtape.basics.ranks import with_rank
from microtape.errors import RecordingError
from microtape.recording.model.model import Recording
from tui.shell.exits import CommandError
from tui.shell.opening import Origin, open_origin

if TYPE_CHECKING:
    from microtape.recording.ranks import Ranks


class RankFiles(NamedTuple):
    """The recordings of several ranks, and where each is from, in the order of the ranks."""

    ranks: Ranks
    origins: tuple[Origin, ...]
    script: str = ""  # the script that was run just now, for which there are no files

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [] if self.script else [one.file for one in self.origins]

    def heading(self, place: int) -> str:
        """`== rank 0: train.rank0.tape ==`"""
        return f"== rank {self.ranks.numbers[place]}: {self.script or self.files[place]} =="


def several_files(arguments: argparse.Namespace) -> list[str]:
    """The files, if FILE is a recording and others follow it, or if it stands for several; else none.

    A pattern such as `run.*.tape` is expanded here where the shell did not.
    """
    files = [found for one in (arguments.file, *arguments.script_args) for found in _expanded(one)]
    first, *others = [Origin(file).is_recording for file in files]
    return files if first and any(others) else []


def _expanded(file: str) -> Sequence[str]:
    return sorted(glob(file)) or [file] if file.endswith(".tape") and not os.path.exists(file) else [file]


def open_ranks(arguments: argparse.Namespace, files: Sequence[str]) -> RankFiles:
    """Open the recordings of several ranks.

    Raises:
        CommandError: a file is no recording, or they are not of one run.
    """
    origins = [Origin(file, passes=arguments.passes, until=arguments.until) for file in files]
    for origin in origins:
        if not origin.is_recording:
            raise CommandError(f"{origin.file} is not a recording: after {files[0]}, give those of other ranks")
    recordings = [open_origin(origin)[0] for origin in origins]
    return _beside_one_another(recordings, origins)


def ranks_of_run(origin: Origin, recordings: Sequence[Recording]) -> RankFiles:
    """The recordings of the processes in which a script ran its passes.

    Raises:
        CommandError: they are not of one run.
    """
    stem = origin.file if origin.is_module else os.path.splitext(origin.file)[0]
    origins = [Origin(with_rank(f"{stem}.tape", number)) for number in range(len(recordings))]  # beside the script
    return _beside_one_another(recordings, origins)._replace(script=origin.file)


def _beside_one_another(recordings: Sequence[Recording], origins: Sequence[Origin]) -> RankFiles:
    from microtape.recording.ranks import Ranks

    try:
        ranks = Ranks(recordings, [one.file for one in origins])
    except RecordingError as error:
        raise CommandError(str(error)) from None
    return RankFiles(ranks, tuple([origins[at] for at in ranks.order]))
