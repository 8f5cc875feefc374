"""Programs of several processes, started with torchrun's own command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import microtape
from microtape.recording.file.tape_file import load


class Torchrun:
    """Runs `train.py` in a folder. No process is left behind."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        (folder / "train.py").write_text(program)

    def __call__(self, *command: str, processes: int = 2) -> tuple[int, list[str], str]:
        """The exit code of torchrun, the lines that the ranks have printed, and standard error."""
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
        return process.returncode, sorted(line for line in out.splitlines() if line.startswith("rank")), error

    def files(self) -> list[str]:
        """The recordings."""
        return sorted(one.name for one in self.folder.glob("*.tape"))

    def load(self, name: str) -> microtape.Recording:
        """One of them."""
        return load(self.folder / name)
