"""Grad modes, inference mode, and threads."""

from __future__ import annotations

from tests.parity.random import passes
from tests.parity.random.program import THREAD
from tests.parity.random.writer import Writer

MODES = ["no_grad()", "enable_grad()", "set_grad_enabled(False)", "inference_mode()", "inference_mode(False)"]


def mode(w: Writer) -> None:
    """Statements in a mode."""
    some = MODES
    if w.is_inside("inference_mode()"):  # NB: torch records Functions there if grad mode is on
        some = [one for one in MODES if "grad" not in one]
    w.within(f"with mt.{w.choice(some)}:", lambda: w.body(w.choice([1, 2, 3, 4])))


def thread(w: Writer) -> None:
    """Statements in a thread."""
    if not w.is_inside(THREAD, "inference_mode"):  # which is a mode of the thread that enters it
        if w.chance(0.5):
            w.within(THREAD, lambda: w.choice([passes.backward, passes.grad])(w))
        else:
            w.within(THREAD, lambda: w.body(w.choice([1, 2])))


STATEMENTS = [(5, mode), (2, thread)]
