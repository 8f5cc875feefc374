"""Programs of several processes, started with torchrun's own command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import microtape
from microtape.recording.file.tape_file import load

_ENDED_BY_TORCH = "terminate called without an active exception"
"""What a thread of gloo's prints that aborts a process at its end: about one run in sixty, without microtape, too."""


class Torchrun:
    """Runs `train.py` in a folder. No process is left behind."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        (folder / "train.py").write_text(program)

    def __call__(self, *command: str, processes: int = 2) -> tuple[int, list[str], str]:
        """The exit code of torchrun, the lines that the ranks have printed, and standard error."""
        for _ in range(3):
            code, out, error = self._run(command, processes)
            if _ENDED_BY_TORCH not in error:
                break
        return code, sorted(line for line in out.splitlines() if line.startswith("rank")), error

    def _run(self, command: tuple[str, ...], processes: int) -> tuple[int, str, str]:
        number = str(processes)
        start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", number, *command]
        root = str(Path(microtape.__file__).parent.parent)
        environment = {**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            start, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, error = process.communicate(timeout=240)
        finally:
            process.kill()
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)  # no process is left of its group
        return process.returncode, out, error

    def files(self) -> list[str]:
        """The recordings."""
        return sorted(one.name for one in self.folder.glob("*.tape"))

    def load(self, name: str) -> microtape.Recording:
        """One of them."""
        return load(self.folder / name)
