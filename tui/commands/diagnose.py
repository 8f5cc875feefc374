"""`microtape diagnose`: say what is wrong in a script or a recording, with the line, the numbers and a remedy."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace

from microtape.recording.findings import findings
from microtape.recording.model.model import Recording
from microtape.recording.script.ending import ScriptRun
from tui.beside.rank_diagnosis import RankDiagnosis, rank_summary
from tui.shell.exits import Exit, is_ascii
from tui.shell.opening import Origin, open_program
from tui.shell.printing import put, put_json
from tui.shell.progress import status_line
from tui.shell.several import RankFiles, open_ranks, ranks_of_run, several_files
from tui.shell.spans import line, plain
from tui.words.diagnosis import A_PAGE, Diagnosis

SUMMARY = 4  # lines: an empty one, the summary, the prompts before and after
SEARCH = 10.0  # seconds that the script goes on after its first pass


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    files = several_files(arguments)
    if files:
        return _of_ranks(open_ranks(arguments, files), arguments)
    origin = Origin.asked_for(arguments, search=SEARCH)
    recordings, ended = open_program(origin, quiet=True, tell_failure=False)
    if len(recordings) > 1:
        return _of_ranks(ranks_of_run(origin, recordings), arguments, origin, ended)
    (recording,) = recordings
    found = Diagnosis(
        recording, findings(recording), origin.file, origin.script_args, origin.is_module, _is_complete(ended)
    )
    if arguments.json:
        put_json({"file": origin.file, **_ended(recording, ended), **found.as_json()})
    else:
        _print(found, _summary(found, ended), is_ascii(arguments))
    return _exit_code(found, ended)


def _of_ranks(
    opened: RankFiles, arguments: argparse.Namespace, origin: Origin | None = None, ended: ScriptRun | None = None
) -> int:
    """Diagnose the recordings of several processes: of files, or of a script that was run just now."""
    with status_line("comparing the ranks ...   Ctrl-C stops"):
        found = RankDiagnosis.of(opened.ranks, opened.files)
        if origin is not None:
            found = replace(
                found, file=origin.file, script_args=origin.script_args, is_module=origin.is_module,
                is_complete=_is_complete(ended),
            )  # fmt: skip
    if arguments.json:
        numbers = list(opened.ranks.numbers)
        put_json({"files": opened.files or [found.file], "ranks": numbers, **found.as_json()})
    else:
        searched = ended.search.passes if ended is not None and ended.search is not None else 0
        _print(found, rank_summary(found, searched), is_ascii(arguments))
    return _exit_code(found, ended)


def _is_complete(ended: ScriptRun | None) -> bool:
    """Whether a script was searched to its end."""
    return ended is not None and ended.search is not None and ended.search.why in ("failed", "finished")


def _exit_code(found: Diagnosis, ended: ScriptRun | None) -> int:
    if found.is_serious:
        return Exit.FOUND
    return ended.exit_code if ended is not None else Exit.OK


def _print(found: Diagnosis, summary: str, ascii: bool) -> None:
    columns, lines = shutil.get_terminal_size((100, 24))
    height = lines - SUMMARY if sys.stdout.isatty() else A_PAGE
    for text in found.report(min(max(columns, 60), 120), height, ascii=ascii):
        put(plain(line(text), ascii=ascii))
    if found.found:
        put()
    put(summary)


def _summary(found: Diagnosis, ended: ScriptRun | None) -> str:
    """How many findings there are, and how far the program was looked at."""
    count = len(found.found)
    told = "nothing wrong was found" if not count else f"{count} finding{'' if count == 1 else 's'}"
    search = ended.search if ended is not None else None
    kept = len(found.recording.passes)
    passes = search.passes if search is not None else found.recording.passes[-1].index + 1 if kept else 0
    many = f"{passes:,} pass" if passes == 1 else f"{passes:,} passes"
    if found.recording.faults:
        many += ", not all of which was recorded"
    if search is None:
        return f"{found.file}: {told} in {many}"
    if search.why == "failed" and not count:
        seen = f", and nothing in {many} shows why" if passes else " before its first pass, and nothing shows why"
        return f"{found.file}: the script failed{seen}"
    status = ended.exit_code if ended is not None and not found.recording.faults else 0
    why = {
        "found": "stopped there",
        "failed": "the script failed",
        "finished": f"the script exited with status {status}" if status else "the script ended",
        "time over": "stopped when the time was over; --search SECONDS looks longer",
        "stopped": "interrupted",
        "killed": "the script did not come to the end of another pass and was killed",
    }[search.why]
    return f"{found.file}: {told} in {many} ({why})"


def _ended(recording: Recording, ended: ScriptRun | None) -> dict[str, object]:
    search = ended.search if ended is not None else None
    return {
        "passes": search.passes if search is not None else len(recording.passes),
        "ended": search.why if search is not None else None,
    }
