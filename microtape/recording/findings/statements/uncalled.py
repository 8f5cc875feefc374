"""Methods that a statement names and does not call: `optimizer.zero_grad`, without parentheses."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from microtape.basics.call_site import in_cell
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.source import place_in, text_of, tree_of

_METHODS = ("zero_grad", "step", "zero_", "train", "eval", "detach_", "retain_grad", "backward", "update")


def never_called(program: Program) -> Iterator[Finding]:
    """A finding for each statement such as `optimizer.zero_grad`, without parentheses, in a file that has a pass."""
    for file in program.files_with_passes:
        for named in _uncalled(program.recording.sources[file], is_cell=bool(in_cell(file))):
            place, text = place_in(program.recording, file, named), text_of(named)
            yield Finding(
                "no effect", "error",
                headline(f"{text} at {at(place)} is not called", f"{named.attr} at {at(place)} is not called"),
                (f"Without parentheses, {text} only names the method: the line does nothing.",),
                f"Call it: {text}().", place,
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _uncalled(source: str, *, is_cell: bool) -> Sequence[ast.Attribute]:
    """The methods that statements name, and do not call; the value of a cell's last line is shown."""
    tree = tree_of(source) or ast.Module([], [])
    last = tree.body[-1] if is_cell and tree.body else None
    statements = [one for one in ast.walk(tree) if isinstance(one, ast.Expr) and one is not last]
    named = [one.value for one in statements if isinstance(one.value, ast.Attribute)]
    return [one for one in named if one.attr in _METHODS]
