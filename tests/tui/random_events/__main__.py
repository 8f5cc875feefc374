"""Send random events to the stepper and the course, over many seeds; shrink and report what fails.

    python -m tests.tui.random_events                          200 runs of 2,000 events, which take hours
    python -m tests.tui.random_events --runs 20 --events 500
    python -m tests.tui.random_events --only "lesson" --seed 7
    python -m tests.tui.random_events --replay failure.json    the events of a failure, again

Each run is a process of its own. Ctrl-C ends them after this run, and it tells what was counted so far. A failure's
events are shrunk, and written to `--out` as a file to replay.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from tests.reliability.figures import write_figures
from tests.tui.random_events.events import Event, random_events
from tests.tui.random_events.play import PATIENCE, Failure, play
from tests.tui.random_events.shrink import shrink
from tests.tui.random_events.subjects import subjects

AGAIN = 3  # how often a shorter sequence may try to fail: some failures need luck


def main() -> int:
    """Run, and return how many runs failed, at most 100."""
    parser = argparse.ArgumentParser(prog="python -m tests.tui.random_events", description="Random events.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--only", default="", help="the subjects whose names contain this text")
    parser.add_argument("--trials", type=int, default=120, help="how many shorter sequences are tried of a failure")
    parser.add_argument("--out", type=Path, default=Path("random_events"), help="the folder for failures")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    parser.add_argument("--replay", type=Path, help="a file that an earlier run has written")
    arguments = parser.parse_args()
    if arguments.replay is not None:
        stored = json.loads(arguments.replay.read_text())
        failure = play(stored["subject"], [Event(*map(_tuple, one)) for one in stored["events"]])
        print(failure.report if failure else "nothing fails")
        return int(failure is not None)
    every = [one for one in subjects() if arguments.only in one]
    failed = runs = 0
    shown = set()
    asked_to_end: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked_to_end.append(number))
    for number in range(arguments.seed, arguments.seed + arguments.runs):
        if asked_to_end:
            break
        runs += 1
        subject, begin = every[number % len(every)], time.monotonic()
        events = random_events(f"{subject} {number}", arguments.events)
        failure = in_a_process(subject, events)
        took = time.monotonic() - begin
        shown.add(subject)
        print(f"run {number}, {subject}: {failure.kind if failure else 'passed'} ({took:.0f} s)", flush=True)
        if failure is not None:
            failed += 1
            arguments.out.mkdir(exist_ok=True, parents=True)
            path = arguments.out / f"{number}.json"
            print(f"  {report(subject, events, failure, path, arguments.trials)}", flush=True)
    if arguments.figures is not None:
        write_figures(arguments.figures, runs=runs, events=arguments.events, failed=failed, subjects=len(shown))
    print(f"{runs - failed} of {runs} runs of {arguments.events:,} events passed")
    return min(failed, 100)


def report(subject: str, events: list[Event], failure: Failure, path: Path, trials: int) -> str:
    """Shrink the events of a failure, and write them to a file. Returns what to tell."""

    def fails(fewer: list[Event]) -> bool:
        for _ in range(AGAIN):
            again = in_a_process(subject, fewer)
            if again is not None and again.kind == failure.kind:
                return True
        return False

    def write(some: list[Event]) -> None:
        stored = {"subject": subject, "kind": failure.kind, "report": failure.report, "events": some}
        path.write_text(json.dumps(stored))

    left = events[: failure.sent]
    write(left)
    again = fails(left)
    if again:
        left = shrink(left, fails, trials)
        write(left)
    else:
        return f"did not fail a second time; its {len(left)} events are in {path}"
    told = " ".join(one.text or f"{one.kind}{one.at}" for one in left)
    return f"{len(left)} events ({told[:400]}): {path}"


def in_a_process(subject: str, events: list[Event]) -> Failure | None:
    """Play in a process of its own: a hang or a crash of the interpreter is a failure as well."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_play_and_tell, args=(there, subject, events))
    process.start()
    there.close()
    try:
        patience = PATIENCE + len(events) * 2
        found: Failure | None = here.recv() if here.poll(patience) else Failure("hangs", len(events), "")
    except EOFError:
        found = Failure("the process ended", len(events), "")
    process.kill()
    process.join()
    return found


def _play_and_tell(there: Connection, subject: str, events: list[Event]) -> None:
    there.send(play(subject, events))


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
