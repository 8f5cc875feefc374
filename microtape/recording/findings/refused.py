"""Calls that autograd refused outside of a pass: a loss without history, a write to a leaf, ..."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.cuts import cut_of, reason_of, remedy_for
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, at, first_sentence, headline
from microtape.recording.model.cut_history import crossing
from microtape.recording.model.model import ErrorRecord, Place
from microtape.recording.model.source import expression, source_lines


def refused(program: Program) -> Iterator[Finding]:
    """A finding for an exception outside of a pass, if autograd raised it."""
    error = program.recording.error
    if error is None:
        return
    place = dict(error.places).get("raised")
    line = (
        source_lines(program.recording, place.file)[place.line - 1].strip()
        if place is not None and _has(program, place)
        else ""
    )
    kind = _kind(error)
    if kind == "NoGraphError":
        yield _no_graph(program, error, place, line)
    elif kind == "InPlaceError" and "leaf" in error.message and "view" not in error.message:
        text = headline(
            f"An in-place write to a leaf that requires grad, at {at(place)}", "An in-place write to a leaf"
        )
        lines = (
            f"{line}" if line else error.message,
            "Autograd cannot record it: the leaf would lose its place as a leaf.",
        )
        yield Finding("refused", "error", text, lines, "Update leaves inside `with no_grad():`.", place)
    elif kind in _ENGINE_ERRORS or any(words in error.message for words in _OTHER_WORDING):
        message = first_sentence(error.message)
        text = headline(f"Refused at {at(place)}: {message}", f"{error.type} at {at(place)}")
        yield Finding("refused", "error", text, (f"{message}.",), _remedy(error.message), place)


def _kind(error: ErrorRecord) -> str:
    """The type of the error in microtape; torch raises a plain RuntimeError, which is told by its wording."""
    if error.type != "RuntimeError":
        return error.type
    return next((kind for words, kind in _BY_WORDING.items() if words in error.message), error.type)


def _no_graph(program: Program, error: ErrorRecord, place: Place | None, line: str) -> Finding:
    """Backward from a tensor without history: the border where it lost its history."""
    name = line.partition(".backward")[0].strip() if ".backward" in line else ""
    name = name if name.isidentifier() else ""
    borders = [one for one in program.recording.borders if not one.in_place or one.kind == "detach"]
    named = [one for one in borders if any(program.recording.tensors[ref.tensor].name == name for ref in one.outputs)]
    last = (named or borders)[-1] if borders else None
    border = crossing(last, program.borders) if last is not None else None
    root = name or "The loss"
    if border is None or border.place is None:
        text = headline(f"{root} does not require grad: nothing in it does, at {at(place)}")
        lines = (f"{first_sentence(error.message)}.", "None of the tensors that it was computed from requires grad.")
        return Finding("refused", "error", text, lines, "Create the parameters with requires_grad=True.", place)
    what = (
        program.recording.tensors[border.operands[0].ref.tensor].name
        if border.operands and border.operands[0].ref
        else ""
    )
    text = headline(
        f"{root} has no history: {cut_of(border)} at {at(border.place)} cut it off",
        f"{root} has no history: it was cut off at {at(border.place)}",
    )
    lines = (
        f"{program.expression(border.place) or border.op} at {at(border.place)} {reason_of(border)}.",
        f"{root} was computed from it, so backward at {at(place)} has nothing to go through.",
    )
    others = (("raised", place),) if place is not None else ()
    tensor = border.outputs[0].tensor if border.outputs else None
    remedy = remedy_for(border, what or "the tensor", expression(program.recording, border.place))
    return Finding("refused", "error", text, lines, remedy, border.place, tensor=tensor, others=others)


_ENGINE_ERRORS = ("InPlaceError", "GradientError", "UnusedInputError", "InferenceTensorError", "FreedGraphError",
                  "ModifiedInPlaceError", "CheckpointError")  # fmt: skip

_OTHER_WORDING = ("grad can be implicitly created only for scalar", "Can't call numpy() on Tensor that requires grad")
_BY_WORDING = {
    "does not require grad and does not have a grad_fn": "NoGraphError",
    "is being used in an in-place operation": "InPlaceError",
    "is a view and is being modified inplace": "InPlaceError",
    "appears to not have been used in the graph": "UnusedInputError",
    "modified by an inplace operation": "ModifiedInPlaceError",
    "through the graph a second time": "FreedGraphError",
    "Inference tensors cannot be saved for backward": "InferenceTensorError",
    "Inplace update to inference tensor": "InferenceTensorError",
}


def _remedy(message: str) -> str:
    if "implicitly created only for scalar" in message:
        return "Reduce it to one number first, such as .sum() or .mean(), or pass a gradient of its shape to backward."
    if "Can't call numpy()" in message:
        return "Write .detach().numpy(): numpy records nothing, so an array takes no gradient back."
    if "not have been used in the graph" in message:
        return "Pass allow_unused=True if that is meant; else look for the place where the input left the graph."
    if "inplace" in message or "in-place" in message:
        return "Work on a .clone(), or write inside `with no_grad():`."
    return "The stepper shows what was computed before it."


def _has(program: Program, place: Place) -> bool:
    return place.line <= len(source_lines(program.recording, place.file))
