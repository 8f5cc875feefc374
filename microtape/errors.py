"""What can go wrong, one class for each. They derive from the exceptions that torch raises, with torch's wording.

An `AutogradError` also says where in the user's program the things happened that led to it: `places` holds
(role, call site) pairs, and the message ends with one line for each of them.
"""

from __future__ import annotations

from microtape.basics.call_site import CallSite


class AutogradError(RuntimeError):
    """A rule of autograd was broken. `places` holds (role, call site) pairs such as ("saved", ...)."""

    def __init__(self, message: str, *places: tuple[str, CallSite | None]) -> None:
        self.places = tuple((role, site) for role, site in places if site is not None)
        width = max((len(role) for role, _ in self.places), default=0)
        lines = [f"\n  {role:<{width}} at {site.describe()}" for role, site in self.places]
        super().__init__(message + "".join(lines))
        self.summary = message


class ModifiedInPlaceError(AutogradError):
    """A saved tensor was overwritten between its saving and its use."""


class DetachedInPlaceError(AutogradError):
    """A saved tensor has lost its history to `detach_()` since."""


class FreedGraphError(AutogradError):
    """Saved tensors were asked for after backward had freed them."""


class InPlaceError(AutogradError):
    """An in-place operation that autograd cannot follow: on a leaf, or on a view it must not be done to."""


class NoGraphError(AutogradError):
    """Backward was asked of a tensor that has no history."""


class UnusedInputError(AutogradError):
    """`grad()` was asked for a tensor that the outputs do not depend on."""


class GradientError(AutogradError):
    """A gradient has the wrong number, shape, dtype or type."""


class InferenceTensorError(AutogradError):
    """A tensor made in inference mode was used where it may not be."""


class NanGradientError(AutogradError):
    """A node's backward returned a NaN, which anomaly mode looks for."""


class CheckpointError(RuntimeError):
    """A checkpointed function did not save in backward what it had saved in forward."""


class GradcheckError(RuntimeError):
    """A derivative does not agree with its numerical estimate."""


class RecordingError(ValueError):
    """A recording cannot be read, written or made."""
