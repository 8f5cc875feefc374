"""Where the program called torch: the innermost frame outside of torch and of microtape."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType

import torch

from microtape.basics.call_site import LIBRARY_FILES, CallSite

_TORCH = next(iter(torch.__path__)) + "/"
_IS_LIBRARY: dict[str, bool] = {}


def is_library(file: str) -> bool:
    """Whether a file belongs to torch or to microtape, or is code that torch.fx or Dynamo has written."""
    return file.startswith((_TORCH, "<frozen", "<eval_with_key>")) or file in LIBRARY_FILES


def site_of(frame: FrameType | None) -> CallSite | None:
    """The innermost call outside of torch, from this frame outwards."""
    found = user_frame(frame)
    return CallSite(found.f_code, found.f_lasti) if found is not None else None


def site_in(frame: FrameType | None) -> tuple[CodeType, int] | None:
    """The same as a code object and an instruction, which is quicker to make; for calls that a function mode sees."""
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        known = _IS_LIBRARY.get(file)
        if known is None:
            known = _IS_LIBRARY[file] = is_library(file)
        if not known and not _is_evaluated_by_torch(frame):
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def asking_frame(frame: FrameType | None, word: str, is_installed: Callable[[str], bool]) -> FrameType | None:
    """Where a pass or a step is asked for: the program's own line, or the innermost one outside of torch.

    A framework has functions around torch's, of the same name: `accelerator.backward(loss)` calls `loss.backward()`.
    Through those, which have the `word` in their names, the call is followed outwards. If it ends in another function
    of an installed package, as in a whole training loop, the line that calls torch says more.
    """
    found = outer = user_frame(frame)
    while outer is not None and word in outer.f_code.co_name and is_installed(outer.f_code.co_filename):
        outer = user_frame(outer.f_back)
    return found if outer is None or is_installed(outer.f_code.co_filename) else outer


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside of torch, from this one outwards."""
    inner = None
    while frame is not None and (is_library(frame.f_code.co_filename) or _hands_on(frame, inner)):
        inner, frame = frame, frame.f_back
    return frame


def _hands_on(frame: FrameType, inner: FrameType | None) -> bool:
    """Whether this is a subclass's `__torch_function__`, which torch called, on its way back by `super()`."""
    if inner is not None and frame.f_code.co_name == inner.f_code.co_name == "__torch_function__":
        return True
    return _is_evaluated_by_torch(frame)


def _is_evaluated_by_torch(frame: FrameType) -> bool:
    """Whether this is a text that torch has evaluated, such as the lambda that torch.fx puts around what it traces."""
    if frame.f_code.co_filename != "<string>" or "__name__" in frame.f_globals:
        return False
    return frame.f_back is not None and is_library(frame.f_back.f_code.co_filename)
