"""Calls that autograd refused outside of a pass: a loss without history, a write to a leaf, ..."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from microtape.recording.findings.cuts import cut_of, is_constant_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.quiet_blocks import quiet_block
from microtape.recording.findings.remedies import UNUSED
from microtape.recording.findings.wording import at, count, first_sentence, headline, join
from microtape.recording.model.cut_history import crossing
from microtape.recording.model.model import BorderRecord, ErrorRecord, Place
from microtape.recording.model.source import expression, only_expression, place_in, source_lines


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
    name = _root_of(program, place)
    borders = [one for one in program.recording.borders if not one.in_place or one.kind == "detach"]
    named = [one for one in borders if any(program.recording.tensors[ref.tensor].name == name for ref in one.outputs)]
    last = (named or borders)[-1] if borders else None
    border = crossing(last, program.borders) if last is not None else None
    root = name or "The loss"
    if frozen := _frozen_since(program, place):
        return _frozen(program, root, frozen, place)
    if border is not None and is_constant_gradient(program.recording, border):
        return _constant_gradient(program, root, border, place)
    if border is not None and (left_off := _left_off(program, border)) is not None:
        return _grad_mode(program, root, border, left_off, place)
    if border is None or border.place is None:
        text = headline(f"{root} does not require grad: nothing in it does, at {at(place)}")
        lines = (f"{first_sentence(error.message)}.", "None of the tensors that it was computed from requires grad.")
        freezing = _only_call(program, _freezes)
        remedy = "Create the parameters with requires_grad=True."
        if freezing is not None:
            remedy = f"{at(freezing)} sets requires_grad to False: leave out what is to be learned."
        return Finding("refused", "error", text, lines, remedy, place)
    what = (
        program.recording.tensors[border.operands[0].ref.tensor].name
        if border.operands and border.operands[0].ref
        else ""
    )
    text = headline(
        f"{root} has no history: {cut_of(border)} at {at(border.place)} cut it off",
        f"{root} has no history: it was cut off at {at(border.place)}",
    )
    reason = reason_of(border, quiet_block(program, border))
    lines = (
        f"{program.expression(border.place) or border.op} at {at(border.place)} {reason}.",
        f"{root} was computed from it, so backward at {at(place)} has nothing to go through.",
    )
    others = (("raised", place),) if place is not None else ()
    tensor = border.outputs[0].tensor if border.outputs else None
    remedy = remedy_for(border, what or "the tensor", expression(program.recording, border.place))
    return Finding("refused", "error", text, lines, remedy, border.place, tensor=tensor, others=others)


def _root_of(program: Program, place: Place | None) -> str:
    """The variable that backward began from: `loss` of `loss.backward()`, and of `accelerator.backward(loss)`."""
    tensors = {name for one in program.recording.tensors for name in one.names}
    match only_expression(expression(program.recording, place)):
        case ast.Call(ast.Attribute(ast.Name(owner), attr), given) if "backward" in attr:
            names = [one.id for one in given if isinstance(one, ast.Name)]
            return owner if owner in tensors or not given else names[0] if names else ""
        case ast.Call(_, [ast.Name(name), *_]):
            return name
    return ""


def _frozen_since(program: Program, place: Place | None) -> list[str]:
    """The leaves that an earlier pass from this line reached, and that do not require grad any more."""
    recording = program.recording
    before = [one for one in recording.passes if place is not None and one.place and one.place[:2] == place[:2]]
    leaves = [program.node(step.node).variable for one in before[-1:] for step in program.leaf_steps(one)]
    records = [recording.tensors[one] for one in leaves if one is not None]
    return [program.tensor_name(one.id) for one in records if one.is_leaf and not one.requires_grad]


def _frozen(program: Program, root: str, leaves: list[str], place: Place | None) -> Finding:
    freezing = _only_call(program, _freezes)
    text = headline(
        f"{root} has no history: {join(leaves, 3)} no longer require grad, since {at(freezing)}"
        if freezing is not None and len(leaves) > 1
        else f"{root} has no history: {join(leaves, 3)} no longer requires grad",
        f"{root} has no history: its {count(len(leaves), 'parameter')} no longer require grad",
    )
    lines = (
        f"An earlier pass from {at(place)} reached {join(leaves, 6)}.",
        f"Since then, requires_grad was set to False{f' at {at(freezing)}' if freezing is not None else ''}.",
    )
    remedy = "Set it back to True before this loss is computed: `for p in ...: p.requires_grad_(True)`."
    others = (("raised", place),) if place is not None else ()
    return Finding("refused", "error", text, lines, remedy, freezing or place, others=others)


def _constant_gradient(program: Program, root: str, border: BorderRecord, place: Place | None) -> Finding:
    """`grad` with `create_graph`, of something whose gradient depends on nothing that requires grad."""
    text = headline(
        f"{root} has no history: the gradient of {at(border.place)} depends on nothing that requires grad",
        f"{root} has no history: the gradient of {at(border.place)} is a constant",
    )
    lines = (
        f"create_graph is set at {at(border.place)}, but the gradient is computed from nothing that has a history.",
        "So it is with a linear function, and with a Function whose backward detaches what it computes with.",
    )
    functions = sorted({one.op for one in program.recording.nodes if one.kind == "function"})
    remedy = "Look at what is differentiated: a linear function has a constant gradient."
    if functions:
        remedy = f"Compute the backward of {join(functions)} with saved tensors that keep their history: no detach()."
    others = (("raised", place),) if place is not None else ()
    return Finding("refused", "error", text, lines, remedy, border.place, others=others)


def _left_off(program: Program, border: BorderRecord) -> Place | None:
    """The call of `set_grad_enabled(False)` that is still in effect at a border, as far as the source tells."""
    if border.kind != "no_grad" or border.place is None or quiet_block(program, border) is not None:
        return None
    return _only_call(program, _turns_off)


def _grad_mode(program: Program, root: str, border: BorderRecord, off: Place, place: Place | None) -> Finding:
    text = headline(
        f"{root} has no history: set_grad_enabled(False) at {at(off)} is still in effect",
        f"{root} has no history: grad mode is still off since {at(off)}",
    )
    what = program.expression(border.place) or border.op
    lines = (f"{what} at {at(border.place)} ran without grad mode: its result is not on the tape.",)
    remedy = "Write `with set_grad_enabled(False):` around the lines that need no gradient, or turn it on again there."
    others = (("raised", place),) if place is not None else ()
    return Finding("refused", "error", text, lines, remedy, off, others=others)


def _only_call(program: Program, matches: Callable[[ast.AST], bool]) -> Place | None:
    """The statement of the program that matches, if there is only one."""
    found = [
        place_in(program.recording, file, one)
        for file, tree in program.trees
        for one in ast.walk(tree)
        if isinstance(one, ast.stmt) and matches(one)
    ]
    return found[0] if len(found) == 1 else None


def _freezes(statement: ast.AST) -> bool:
    """Whether a statement sets `requires_grad` to False."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=ast.Constant(value=False)):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[ast.Constant(value=False)])):
            return True
    return False


def _turns_off(statement: ast.AST) -> bool:
    """Whether a statement turns grad mode off from there on."""
    match statement:
        case ast.Expr(value=ast.Call(func=function, args=[ast.Constant(value=False)])):
            return ast.unparse(function).endswith("set_grad_enabled")
    return False


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
        return UNUSED
    if "inplace" in message or "in-place" in message:
        return "Work on a .clone(), or write inside `with no_grad():`."
    return "The stepper shows what was computed before it."


def _has(program: Program, place: Place) -> bool:
    return place.line <= len(source_lines(program.recording, place.file))
