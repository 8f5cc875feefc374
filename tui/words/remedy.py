"""A suggestion for a pass that failed, with the user's own line corrected if possible."""

from __future__ import annotations

import ast

from microtape.recording.model.model import ErrorRecord, Place, Recording
from microtape.recording.model.source import source_lines


def remedy(recording: Recording, error: ErrorRecord) -> str:
    """The suggestion, or an empty text."""
    places, text = dict(error.places), error.message
    if "modified by an inplace operation" in text or "modified" in places:
        corrected = _out_of_place(recording, places["modified"]) if "modified" in places else ""
        if corrected:
            return f"write `{corrected}` there: this makes a new tensor and leaves the kept one unchanged"
        return "compute a new tensor there instead of writing into this one, or write into a .clone() of it"
    if "second time" in text or "freed" in text:
        return "pass retain_graph=True to the first backward, or compute the result again before the second"
    if "grad can be implicitly created only for scalar" in text:
        return "reduce it to one number first, such as .sum() or .mean(), or pass a gradient of its shape to backward"
    if "does not require grad" in text:
        return "create one of its inputs with requires_grad=True, and look for detach() or no_grad in between"
    return ""


def _out_of_place(recording: Recording, place: Place) -> str:
    """The in-place line, rewritten out of place: `y += 1` as `y = y + 1`, `y.add_(1)` as `y = y.add(1)`."""
    text = "\n".join(source_lines(recording, place.file)[place.line - 1 : place.end_line]).strip()
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ""
    match body:
        case [ast.AugAssign(target=ast.Name() as target, op=op, value=value)]:
            left = ast.Name(target.id, ast.Load())
            return f"{target.id} = {ast.unparse(ast.BinOp(left, op, value))}"
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) as call)]:
            if attr.endswith("_") and not attr.endswith("__"):
                call.func = ast.Attribute(ast.Name(name, ast.Load()), attr.removesuffix("_"), ast.Load())
                return f"{name} = {ast.unparse(call)}"
    return ""
