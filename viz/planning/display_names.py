"""How pictures name tensors, operations and lines of code: by the program's own names where there are any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from microtape.recording.model.formatting import format_argument, format_shape, format_value
from microtape.recording.model.formula_names import is_letter, named_formula
from microtape.recording.model.model import NodeRecord, Operand, Place, Recording, SavedRecord, SavedUse, TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible

NAME_WIDTH = 24
LOCATION_WIDTH = 36
TITLE_WIDTH = 52


def tensor_name(now: Moment, ref: TensorRef | None) -> str:
    """The name in the program, else the node that computed it (`%4`, `%4.1` for output 1), else what is known.

    The name in the operation that saved it, the operation off the tape that computed it, its value, or its shape.
    """
    if ref is None:
        return "_"
    recording = now.recording
    tensor = recording.tensors[ref.tensor]
    if tensor.name:
        return visible(tensor.name, NAME_WIDTH)
    made = now.timeline.producer.get(ref) or ((tensor.node, tensor.output_nr) if tensor.node is not None else None)
    if made is not None:
        node, output = made
        return f"%{node}.{output}" if len(recording.nodes[node].outputs) > 1 else f"%{node}"
    if name := name_in_forward(now, ref):
        return name
    if (border := now.timeline.borders.get(ref)) is not None:
        return f"{visible(border.op, NAME_WIDTH)}(…)"
    value = recording.value(ref)
    if value is not None and not tensor.shape:
        return format_value(value, 10)
    return shape_words(tensor.shape) + (" tensor" if len(tensor.shape) > 1 else "")


def named_in_forward(now: Moment, node: NodeRecord, saved: SavedRecord) -> bool:
    """Whether only the operation has a name for what it saved, such as a mask that it made."""
    has_none = not now.recording.tensors[saved.ref.tensor].name and saved.ref not in now.timeline.producer
    return has_none and len(saved.name) > 1 and not saved.name.startswith("saved_tensors[")


def saved_names(now: Moment, node: NodeRecord, saved: SavedRecord | SavedUse) -> tuple[str, str]:
    """The name of a saved tensor in the operation and in the program; the first is empty if it says nothing more.

    Letters are those of the formula, which is shown with the program's names.
    """
    inside, name = visible(saved.name, NAME_WIDTH), tensor_name(now, saved.ref)
    return ("" if inside == name or is_letter(node, saved.name) else inside), name


def name_in_forward(now: Moment, ref: TensorRef) -> str:
    """The name that a tensor has in the operation that saved it; empty if none did."""
    for saver in now.timeline.savers.get(ref, ()):
        node = now.recording.nodes[saver]
        for one in node.saved:
            if one.ref == ref and named_in_forward(now, node, one):
                return visible(one.name, NAME_WIDTH)
    return ""


def shape_words(shape: tuple[int, ...]) -> str:
    """`scalar`, `vector 3`, `2×3`: a 3 alone would look like a value."""
    return f"vector {shape[0]}" if len(shape) == 1 else format_shape(shape)


def operation_title(now: Moment, node: NodeRecord) -> str:
    """The operation as a line of code: `z = mul(x, y)`."""
    op = node.op
    if node.in_place and node.kind == "operation" and not op.endswith("_"):
        op += "_"
    outputs = ", ".join(tensor_name(now, ref) for ref in node.outputs) or f"%{node.id}"
    return call_title(outputs, op, [operand_name(now, operand) for operand in node.operands])


def call_title(outputs: str, op: str, operands: list[str]) -> str:
    """`outputs = op(operands)`, with as many operands as fit."""
    outputs, op = visible(outputs, TITLE_WIDTH // 2), visible(op, NAME_WIDTH)
    room = TITLE_WIDTH - len(outputs) - len(op) - len(" = ()")
    shown = len(operands)
    while shown > 1 and len(", ".join(operands[:shown])) > room:
        shown -= 1
    more = ["…"] if shown < len(operands) else []
    return f"{outputs} = {op}({', '.join(operands[:shown] + more)})"


def operand_name(now: Moment, operand: Operand) -> str:
    """The name of an operand: that of its tensor, or the text of a constant."""
    return visible(format_argument(operand.text), NAME_WIDTH) if operand.ref is None else tensor_name(now, operand.ref)


def formula_text(now: Moment, node: NodeRecord) -> str:
    """The node's formula with the program's names; see `named_formula`."""
    return named_formula(now.recording, node, lambda operand: operand_name(now, operand))


def location(recording: Recording, place: Place) -> str:
    """`line 7` if the program is one file, `model.py:7` if it has several; `cell 3, line 7` in a notebook."""
    if len(recording.sources) > 1:
        return visible(place.at_within(LOCATION_WIDTH), LOCATION_WIDTH)
    return f"line {place.line}" if place.file == recording.title else place.at_line


def code_at(recording: Recording, place: Place, width: int) -> str:
    """The first line of the sub-expression; empty if the source was not recorded."""
    lines = recording.sources.get(place.file, "").split("\n")
    if not 1 <= place.line <= len(lines):
        return ""
    line = lines[place.line - 1]
    if place.end_line == place.line:
        return visible(line[place.column : place.end_column].strip(), width)
    return visible(line[place.column :].strip() + " …", width)


def usual_dtype(recording: Recording, tensors: Iterable[int]) -> str:
    """The dtype of most of these tensors: boxes name only other dtypes."""
    counts = Counter(recording.tensors[tensor].dtype for tensor in tensors)
    return max(sorted(counts), key=lambda dtype: counts[dtype], default="")
