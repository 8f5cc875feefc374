"""Several recordings on the command line: those of the processes of one run, one beside the other."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from glob import glob
from typing import TYPE_CHECKING, NamedTuple

from microtape.errors import RecordingError
from tui.shell.exits import CommandError
from tui.shell.opening import Origin, open_origin

if TYPE_CHECKING:
    from microtape.recording.ranks import Ranks


class RankFiles(NamedTuple):
    """The recordings of several ranks, and where each is from, in the order of the ranks."""

    ranks: Ranks
    origins: tuple[Origin, ...]

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [one.file for one in self.origins]


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
    from microtape.recording.ranks import Ranks

    origins = [Origin(file, passes=arguments.passes, until=arguments.until) for file in files]
    for origin in origins:
        if not origin.is_recording:
            raise CommandError(f"{origin.file} is not a recording: after {files[0]}, give those of other ranks")
    recordings = [open_origin(origin)[0] for origin in origins]
    try:
        ranks = Ranks(recordings, files)
    except RecordingError as error:
        raise CommandError(str(error)) from None
    return RankFiles(ranks, tuple([origins[at] for at in ranks.order]))
