"""The stepper from Python: `tui.step(loss)` opens it on a tensor, a recording or a file."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.shell.printing import put
from tui.shell.terminal import has_terminal

if TYPE_CHECKING:
    from microtape.recording.model.model import Recording

# -P and the explicit path: the learner's directory may contain files called tui.py or viz.py.
COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tui.commands.cli import main; sys.exit(main())"


def step(x: Any) -> None:
    """Open the stepper, and return when it is closed. Without a terminal, print the trace.

    The stepper runs in its own process, so it also works from a notebook's terminal or under a running event loop.

    Args:
        x: a Tensor or a grad_fn, microtape's or PyTorch's, or a list of them (`backward()` is called, recorded and
            shown, which adds to `.grad` of the leaves as usual); a Recording, or the `r` of
            `with microtape.record() as r`; or the path of a `.tape` file.

    Raises:
        RecordingError: the file is not a recording.
        TypeError: `x` is none of these.
    """
    recording = _recording(x)
    if not has_terminal():
        from tui.words.trace import trace

        for line in trace(recording):
            put(line)
        return
    from microtape.recording.file.tape_file import save

    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        path = os.path.join(folder, "run.tape")
        save(recording, path)
        _run_command("step", path)


def _run_command(*arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a `microtape` command in its own process, in this terminal or with its output captured."""
    stdin = subprocess.DEVNULL if capture else None
    return subprocess.run(command_line(*arguments), check=False, text=True, stdin=stdin, capture_output=capture)


def command_line(*arguments: str) -> list[str]:
    """The command line that runs `microtape`, wherever the package is installed."""
    root = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-P", "-c", COMMAND, root, *arguments]


def _recording(x: Any) -> Recording:
    import microtape
    from microtape.basics.call_site import LIBRARY_FILES
    from microtape.recording.engines import is_torch
    from microtape.recording.file.tape_file import load
    from microtape.recording.model.displayed import Displayed, recording_of
    from viz.as_recording import outputs_of

    if isinstance(x, Displayed):
        return recording_of(x)
    if isinstance(x, str | os.PathLike):
        return load(x)
    outputs = outputs_of(x, "tui.step")
    autograd: Any = (sys.modules["torch"] if is_torch(outputs[0]) else microtape).autograd
    roots = [autograd.graph.GradientEdge(one, 0) if hasattr(one, "next_functions") else one for one in outputs]
    LIBRARY_FILES.add(__file__)  # the pass was called, and its tensors named, where `tui.step` was called
    recording: Recording = microtape.record(autograd.backward, roots)
    return recording
