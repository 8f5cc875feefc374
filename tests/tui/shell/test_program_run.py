"""A run for the stepper: the recording of a script, or those of the processes in which it runs its passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.shell.opening import Origin
from tui.shell.program_run import ProgramRun, Watched

STARTS = """\
import multiprocessing as mp
import sys
import microtape as mt


def work(rank):
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    (w * rank).sum().backward()


if __name__ == "__main__":
    for rank in range(int(sys.argv[1])):
        one = mp.get_context("spawn").Process(target=work, args=(rank,))
        one.start()
        one.join()
"""


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_run_has_the_recordings_of_the_processes_of_its_script(tmp_path: Path, count: int) -> None:
    script = tmp_path / "start.py"
    script.write_text(STARTS)
    run = ProgramRun(Origin(str(script), (str(count),), search=5), hidden=True)
    with Watched(run):
        run.wait_for_first()
    assert run.ended is not None
    assert len(run.ended.files) == count
    assert (run.first is not None, len(run.of_processes)) == (count == 1, count if count > 1 else 0)
    assert run.problem == ""
