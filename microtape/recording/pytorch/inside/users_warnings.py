"""A warning names the user's line, as it does without a recorder, whose frames stand between torch and the user."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO

from microtape.basics.call_site import LIBRARY_FILES
from microtape.basics.replaced import Replaced
from microtape.recording.pytorch.calls.call_sites import user_frame


class UsersWarnings:
    """A context in which a warning that names a file of microtape is given again, at the line that called torch.

    Python's filters decide on that one: they ignore it, raise it, or show it once for each line.
    """

    def __init__(self) -> None:
        self._replaced = Replaced(warnings, "showwarning")

    def __enter__(self) -> None:
        self._replaced.put(self._given_again)

    def __exit__(self, *error: object) -> None:
        self._replaced.restore()

    def _given_again(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        named = sys._getframe(1)
        while filename in LIBRARY_FILES and named.f_back is not None and named.f_code.co_filename != filename:
            named = named.f_back
        user = user_frame(named) if named.f_code.co_filename == filename else None
        if filename not in LIBRARY_FILES or user is None:
            self._replaced.before(message, category, filename, lineno, file, line)
            return
        named.f_globals.pop("__warningregistry__", None)  # it would keep the next line's warning of the same text
        there = user.f_globals
        registry = there.setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            message, category, user.f_code.co_filename, user.f_lineno, there.get("__name__"), registry
        )
