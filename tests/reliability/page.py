"""RELIABILITY.md: what the checks have counted, in words and tables."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "RELIABILITY.md"
Figures = Mapping[str, Any]
HEAD = """# Reliability

What microtape has been put through, and what came of it. `python -m tests.reliability` runs these checks and writes
this page from what they count; `.ci/run` runs a small part of each. [SECURITY.md](SECURITY.md) says what may be opened
without trust.
"""


def write_page(figures: Path, page: Path) -> None:
    """Write the page from the files of figures in a folder."""
    page.write_text(as_page({name: _read(figures / f"{name}.json") for name in SECTIONS}), encoding="utf-8")


def _read(path: Path) -> Figures | None:
    found: Figures | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def as_page(figures: Mapping[str, Figures | None]) -> str:
    """The page. A check without figures says how to run it."""
    parts = [HEAD]
    for name, (title, write) in SECTIONS.items():
        found = figures.get(name)
        parts.append(f"\n## {title}\n\n")
        if found is None:
            parts.append(f"Not run yet: `python -m tests.reliability {name}`.\n")
        else:
            parts.append(f"{write(found)}\n\n`python -m tests.reliability {name}`, {made_on(found)}\n")
    return "".join(parts)


def made_on(found: Figures) -> str:
    """When it was made and on what: `2026-11-24, Linux on x86_64, 2 processors, Python 3.11.7.`"""
    load = f"; {found['load']}" if "load" in found else ""
    return f"{found['date']}, {found['machine']}{load}."


def _events(found: Figures) -> str:
    return _paragraph(f"""
        Random keys, clicks, drags, pastes, changes of focus and sizes from 10×4 to 300×100: {found["runs"]:,} runs
        of {found["events"]:,} events ({found["runs"] * found["events"]:,} in all) on {found["subjects"]} of the
        examples, lessons, and handmade and broken recordings. **{_count(found["failed"], "run")} failed.** The last
        line of defence, which turns a mistake of microtape's own into a notice, is off in these runs. What fails is
        shrunk to a short sequence of events, and joins the tests.
    """)


def _signals(found: Figures) -> str:
    ends = ", ".join(f"{name} {count}" for name, count in found["endings"])
    return _paragraph(f"""
        Random signals among random keys and sizes, on the command itself in a pseudo-terminal under bash:
        {found["runs"]:,} runs of up to {found["events"]:,} events on {found["subjects"]} recordings, broken ones among
        them, lessons and programs that go on. {found["suspends"]:,} times the job was stopped, by Ctrl+Z, SIGTSTP or
        SIGSTOP, and continued, sometimes in the background first; then something ended it ({ends}).
        **{_count(found["failed"], "run")} failed**: the terminal is whole each time that the shell has it, a continued
        stepper answers, the exit code is 128 and the signal's number, what was typed and the place are remembered,
        nothing is printed and no process is left behind.
    """)


def _files(found: Figures) -> str:
    return _paragraph(f"""
        {found["files"]:,} recordings, damaged by a grammar that knows the format (records, JSON, arrays, the
        zip around them): {found["refused"]:,} were refused, each in one line, and {found["opened"]:,} were
        opened and shown by every view. **{_count(found["faults"], "fault")}.** The address space was limited to
        {found["limit_mb"]:,} MB; memory rose from {found["before_mb"]} to {found["peak_mb"]} MB at most. The
        slowest file took {found["slowest_s"]} s for all views together; the largest had {
        found["largest"] / 1e3:,.0f} kB.
    """)


def _kills(found: Figures) -> str:
    table = ["| what was written | kills | in the middle of writing |", "|---|--:|--:|"]
    table += [f"| {name} | {count} | {middle} |" for name, count, middle in found["kinds"]]
    told = _paragraph(f"""
        `kill -9` at random moments, and before random calls that open, rename or remove a file:
        {found["kills"]:,} kills, {found["in_the_middle"]:,} of them in the middle of writing, which left an
        unfinished file under another name. **{_count(found["faults"], "fault")}**: each time there was the old
        file or the new one, and every pass that had ended could be opened. Of what was typed in `microtape
        learn`, the last {found["most_lost_s"]} s were lost at most.
    """)
    return told + "\n\n" + "\n".join(table)


def _surroundings(found: Figures) -> str:
    names = ", ".join(name for (name,) in found["surroundings"])
    return _paragraph(f"""
        {found["commands"]} command lines in {len(found["surroundings"])} surroundings: {names}.
        **{_count(found["faults"], "fault")}**: a command works, or says in one line what is missing; it never
        ends in a traceback, and never spoils a file.
    """)


def _threads(found: Figures) -> str:
    return _paragraph(f"""
        {found["passes"]:,} backward passes in {found["threads"]} threads on {found["leaves"]} shared leaves,
        and {found["recorded"]:,} more that were recorded, with as many switches between threads as Python can
        make. **{_count(found["lost"], "gradient")} lost**, {_count(found["missing"], "pass", "passes").lower()}
        missing in the recording.
    """)


def _serve(found: Figures) -> str:
    return _paragraph(f"""
        {found["sessions"]} pages of one `microtape serve` at once, each with a stepper of its own, take
        {found["megabytes"]:,} MB in all. With all of them open, a key in one is answered in {found["alone_ms"]}
        ms; pressed in all at once, in {found["together_ms"]} ms (median), and at most {found["slowest_ms"]} ms.
        **{_count(found["left"], "session")} outlived the server** when it was killed.
    """)


def _coverage(found: Figures) -> str:
    left = ", ".join(name for (name,) in found["left"])
    of = f"; not measured: {left}" if left else ", the slow ones and those on PyTorch included"
    told = _paragraph(f"""
        What {found["tests"]:,} tests run of the code{of}. **{_count(found["failed"], "test")} failed** under coverage.
        What learners and their teachers write is left out: the course and the examples. The last column counts lines
        and branches together.
    """)
    table = ["| package | lines | not run | branches | not taken | taken | covered |", "|---|--:|--:|--:|--:|--:|--:|"]
    for package, *counts, percent in found["packages"]:
        *_, branches, not_taken = map(int, counts)
        taken = f"{100 * (1 - not_taken / branches):.1f}"
        table.append(f"| {package} | {' | '.join(f'{int(one):,}' for one in counts)} | {taken} % | {percent} % |")
    return told + "\n\n" + "\n".join(table)


SECTIONS: dict[str, tuple[str, Callable[[Figures], str]]] = {
    "events": ("Random events", _events),
    "signals": ("Signals", _signals),
    "files": ("Damaged files", _files),
    "kills": ("Kills", _kills),
    "surroundings": ("Surroundings", _surroundings),
    "threads": ("Threads", _threads),
    "serve": ("Many sessions", _serve),
    "coverage": ("Coverage", _coverage),
}


def _paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def _count(number: int, one: str, many: str = "") -> str:
    """`no run`, `1 run` or `12 runs`."""
    return f"{number or 'No'} {one}" if number == 1 else f"{number or 'No'} {many or one + 's'}"
