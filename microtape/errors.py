"""A class for each kind of error. They derive from the exceptions that torch raises, and have torch's wording.

An `AutogradError` also names the lines of the user's program that led to it: `places` holds (role, call site) pairs,
and the message ends with a line for each of them.
"""

from __future__ import annotations

from microtape.basics.call_site import CallSite


class AutogradError(RuntimeError):
    """A rule of autograd was violated. `places` holds pairs like ("saved", call site), `summary` the bare message."""

    def __init__(self, message: str, *places: tuple[str, CallSite | None]) -> None:
        self.places = tuple((role, site) for role, site in places if site is not None)
        width = max((len(role) for role, _ in self.places), default=0)
        lines = [f"\n  {role:<{width}} at {site.describe()}" for role, site in self.places]
        super().__init__(message + "".join(lines))
        self.summary = message


class ModifiedInPlaceError(AutogradError):
    """A saved tensor was overwritten before backward used it."""


class DetachedInPlaceError(AutogradError):
    """`detach_()` removed the history of a saved tensor before backward used it."""


class FreedGraphError(AutogradError):
    """Saved tensors were needed after backward had freed them."""


class InPlaceError(AutogradError):
    """An in-place operation that autograd cannot record: on a leaf that requires grad, or on a view that forbids it."""


class NoGraphError(AutogradError):
    """Backward was called on a tensor without history."""


class UnusedInputError(AutogradError):
    """`grad()` was called for an input that the outputs do not depend on."""


class GradientError(AutogradError):
    """A gradient has the wrong number, shape, dtype or type."""


class InferenceTensorError(AutogradError):
    """A tensor made in inference mode was used where autograd cannot use it."""


class NanGradientError(AutogradError):
    """A node's backward returned a NaN, found by anomaly mode."""


class CheckpointError(RuntimeError):
    """A checkpointed function did not save like tensors when it was run again for backward."""


class GradcheckError(RuntimeError):
    """gradcheck found a derivative that differs from its numerical estimate, or a faulty backward."""


class RecordingError(ValueError):
    """A recording could not be read, written or made."""
