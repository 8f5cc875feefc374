"""The check of a node's derivative: both Jacobians side by side, the wrong entries first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from microtape.recording.findings.gradients.derivatives import backward_of
from microtape.recording.findings.program import Program
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import BackwardStep, FiniteDifferences, JacobianCheck, NodeRecord, Place
from microtape.recording.model.source import expression
from tui.shell.spans import Line, Role, Span, line
from tui.time.cursor import StepCursor
from tui.time.row_texts import RowTexts
from tui.words.differences import StepChecks, check_lines, checks_of

MARK = "✗"
MOST = 6  # wrong entries that are listed; all are marked in the Jacobians
LONGEST = 12  # characters of the index of a row
INDENT = "  "
BETWEEN, RIGHT = " │", "differences"


def derivative_lines(cursor: StepCursor, node: int, width: int) -> Iterator[Line]:
    """All that is known from the check of a node's derivative in this pass, in lines of at most this width.

    The lines with text may be longer, and are to be wrapped.
    """
    checks = _Checks(cursor, node, width)
    yield from checks.verdict()
    yield from checks.entries()
    yield from checks.elements()


class _Checks:
    """The checks of one node in one pass."""

    def __init__(self, cursor: StepCursor, node: int, width: int) -> None:
        self.cursor = cursor
        self.width = width
        self.node: NodeRecord = cursor.timeline.node(node)
        self.step: BackwardStep = cursor.timeline.step_of[node]
        self.found, jacobians = checks_of(cursor, node) or StepChecks([], [])
        self.all = sorted(jacobians, key=lambda one: (not one.wrong, one.of_gradient, one.edge, one.output))
        self.jacobians = [one for one in self.all if not one.of_gradient]
        self.rows = RowTexts.of(cursor.timeline)

    def verdict(self) -> Iterator[Line]:
        """Whether the derivative is right, the line of backward, and the gradients that this step has sent."""
        wrong = sum(len(one.wrong) for one in self.jacobians)
        size = sum(math.prod(one.analytical.shape) for one in self.jacobians)
        gradients = [one for one in self.found if not one.problem]
        differs = any(not one.agrees for one in gradients)
        if wrong:
            yield line(Span(f"{MARK} wrong: ", "bad"), f"{wrong} of {size} derivatives differ from finite differences")
        elif differs:
            yield line(Span(f"{MARK} wrong: ", "bad"), "the gradient that it sent differs from finite differences")
        elif gradients or size:
            yield line(Span("✓ right: ", "good"), "finite differences agree")
        second = [one for one in self.all if one.of_gradient]
        if second_wrong := sum(len(one.wrong) for one in second):
            size = sum(math.prod(one.analytical.shape) for one in second)
            yield line(
                Span(f"{MARK} wrong: ", "bad"), f"{second_wrong} of {size} second derivatives, by double backward"
            )
        if place := backward_of(Program(self.cursor.recording), self.node):
            yield self._source("backward", place)
        if self.node.place is not None:
            yield self._source("called", self.node.place)
        for one, said in zip(self.found, check_lines(self.cursor, self.step), strict=True):
            of = line("for ", Span(self._operand(one.output), "name"), "  ") if len(self.found) > 1 else ()
            yield line(Span("sent      ", "label"), *of, *said)
        missing = {one.edge for one in self.jacobians if self._sent_nothing(one.edge)}
        for edge in sorted(missing):
            yield line(
                Span("sent      ", "label"), "for ", Span(self._operand(edge), "name"), "  None, which counts as 0"
            )
        if differs and self.jacobians and not wrong:
            yield line("Its derivatives are right, but not the gradient that it sent: backward is not linear in the "
                       "gradient that comes in.")  # fmt: skip
        elif wrong and gradients and not differs and not missing:
            yield line("The gradient that came in hides it: in this pass all that was sent is right.")

    def entries(self) -> Iterator[Line]:
        """The Jacobians of small nodes."""
        for one in self.all:
            if not isinstance(one.analytical, np.ndarray) or not isinstance(one.numerical, np.ndarray):
                continue  # the recording kept only a summary of them
            by = self._operand(one.edge)
            of, rows_of = (self._output(one.output),) * 2
            if one.of_gradient:
                of, rows_of = f"grad_{self._operand(one.output)}", f"the gradient for {self._operand(one.output)}"
            rows, columns = self._indices(one)
            count = len(one.wrong)
            yield ()
            yield line(
                Span(f"∂{of}/∂{by}", "op"),
                "   ",
                Span(f"rows: {rows_of}, columns: {by}", "dim"),
            )
            for entry in one.wrong[:MOST]:
                row, column = divmod(entry, len(columns))
                yield line(
                    Span(f"{MARK} ", "bad"),
                    Span(f"∂{of}{index_text(rows[row])}/∂{by}{index_text(columns[column])}", "op"),
                    f"  {_left(one)} gives ", Span(format_number(one.analytical[row, column]), "bad"),
                    ", differences give ", Span(_rounded(one.numerical[row, column]), "good"),
                )  # fmt: skip
            if count > MOST:
                yield line(Span(f"{INDENT}and {count - MOST} more", "dim"))
            yield from self._matrices(one, rows, columns)

    def _matrices(
        self, one: JacobianCheck, rows: Sequence[tuple[int, ...]], columns: Sequence[tuple[int, ...]]
    ) -> Iterator[Line]:
        """Both Jacobians side by side, in blocks of columns; those with wrong entries come first."""
        left = [[format_number(x + 0.0, 3) for x in row] for row in np.asarray(one.analytical)]  # + 0.0: no -0
        right = [[_rounded(x) for x in row] for row in np.asarray(one.numerical)]
        heads, names = [index_text(one) for one in columns], [index_text(one)[:LONGEST] for one in rows]
        beside = max(map(len, names)) + len(INDENT)
        cell = max(len(text) for row in (heads, *left, *right) for text in row) + len(MARK) + 1
        count = max((self.width - beside - len(BETWEEN)) // (2 * cell), 1)
        longest = max(len(RIGHT), len(_left(one))) + 1
        cell = max(cell, -(-longest // min(count, len(heads))))  # both headings have room
        blocks = [range(first, min(first + count, len(heads))) for first in range(0, len(heads), count)]
        wrong = {divmod(entry, len(heads)) for entry in one.wrong}
        blocks.sort(key=lambda block: all((row, column) not in wrong for row in range(len(names)) for column in block))
        if len(blocks) > 1:
            yield line(Span(f"{INDENT}Rows that are 0 on both sides are left out.", "dim"))
        for block in blocks:
            room = cell * len(block)
            yield line(Span(f"{'':{beside}}{_left(one):>{room}}{BETWEEN}{RIGHT:>{room}}", "label"))
            if any(heads):
                texts = "".join(f"{heads[column]:>{cell}}" for column in block)
                yield line(Span(f"{'':{beside}}{texts}{BETWEEN}{texts}", "dim"))
            for row, name in enumerate(names):
                if len(blocks) > 1 and all(side[row][column] == "0" for side in (left, right) for column in block):
                    continue
                begin = Span(f"{name:>{beside}}", "dim")
                marked = [(row, column) in wrong for column in block]
                analytical = [
                    _cell((MARK if bad else "") + left[row][column], cell, "bad" if bad else "value")
                    for bad, column in zip(marked, block, strict=True)
                ]
                numerical = [
                    _cell(right[row][column], cell, "good" if bad else "value")
                    for bad, column in zip(marked, block, strict=True)
                ]
                yield line(begin, *_merged(analytical), Span(BETWEEN, "dim"), *_merged(numerical))

    def elements(self) -> Iterator[Line]:
        """The elements of large gradients that were checked, the most different first."""
        small = {one.edge for one in self.jacobians}
        for one in self.found:
            if one.problem or one.output in small:
                continue
            if not isinstance(one.analytical, np.ndarray) or not isinstance(one.numerical, np.ndarray):
                continue
            name = self._operand(one.output)
            apart = np.nan_to_num(np.abs(np.subtract(one.analytical, one.numerical, dtype=np.float64)), nan=np.inf)
            yield ()
            yield line(Span(f"the gradient for {name}", "op"), "   ", Span(self._why_no_jacobian(one), "dim"))
            for at in np.argsort(-apart, kind="stable")[:MOST].tolist():
                place = self._index(one.output, one.elements[at])
                bad = not one.agrees and not np.isclose(one.analytical[at], one.numerical[at], rtol=1e-3, atol=1e-6)
                yield line(
                    Span(f"{MARK} " if bad else INDENT, "bad"),
                    Span(f"{name}{index_text(place)}", "name"), "  it sent ",
                    Span(format_number(one.analytical[at]), "bad" if bad else "value"), ", differences give ",
                    Span(_rounded(one.numerical[at]), "good" if bad else "value"),
                )  # fmt: skip
            if len(one.elements) > MOST:
                yield line(Span(f"{INDENT}and {len(one.elements) - MOST} more, none of which differs more", "dim"))

    def _why_no_jacobian(self, one: FiniteDifferences) -> str:
        size = math.prod(self._shape(one.output))
        if size > len(one.elements):
            return f"{len(one.elements)} of its {size:,} elements were checked"
        return "all its elements were checked"

    def _sent_nothing(self, edge: int) -> bool:
        return edge < len(self.step.grad_inputs) and self.step.grad_inputs[edge] is None

    # Names and shapes

    def _source(self, label: str, place: Place) -> Line:
        text = expression(self.cursor.recording, place)
        return line(Span(f"{label:<10}", "label"), Span(f"{place.at}  ", "strong"), Span(text, "op"))

    def _operand(self, edge: int) -> str:
        operands = [one for one in self.node.operands if one.ref is not None]
        return self.rows.operand(operands[edge]) if edge < len(operands) else f"operand {edge}"

    def _output(self, number: int) -> str:
        ref = self.node.outputs[number] if number < len(self.node.outputs) else None
        name = self.cursor.tensor_name(ref) if ref is not None else ""
        if name:
            return name
        return f"%{self.node.id}" if len(self.node.outputs) == 1 else f"(output {number})"

    def _shape(self, edge: int) -> tuple[int, ...]:
        gradient = self.step.grad_inputs[edge] if edge < len(self.step.grad_inputs) else None
        if gradient is not None:
            return gradient.shape
        refs = [one.ref for one in self.node.operands if one.ref is not None]
        return self.cursor.recording.tensors[refs[edge].tensor].shape if edge < len(refs) else ()

    def _index(self, edge: int, element: int) -> tuple[int, ...]:
        return _indices(self._shape(edge), element + 1)[element]

    def _indices(self, one: JacobianCheck) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The indices of the output's elements and of the operand's: of the rows and the columns."""
        rows, columns = one.analytical.shape
        if one.of_gradient:
            return _indices(self._shape(one.output), rows), _indices(self._shape(one.edge), columns)
        ref = self.node.outputs[one.output]
        shape = self.cursor.recording.tensors[ref.tensor].shape if ref is not None else ()
        return _indices(shape, rows), _indices(self._shape(one.edge), columns)


def _left(one: JacobianCheck) -> str:
    """What computed the Jacobian on the left."""
    return "double backward" if one.of_gradient else "backward"


def _indices(shape: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """The indices of the first elements of an array; if the array's shape is not known, their numbers."""
    if not shape and count == 1:
        return [()]
    if math.prod(shape) < count:
        return [(i,) for i in range(count)]
    return [tuple(int(i) for i in np.unravel_index(element, shape)) for element in range(count)]


def _cell(text: str, width: int, role: Role) -> Span:
    return Span(f"{text:>{width}}", role)


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    """Neighbours of one role as one span."""
    for role, several in groupby(spans, key=lambda one: one.role):
        yield Span("".join(one.text for one in several), role)


def _rounded(x: float) -> str:
    """A finite difference without its rounding errors: three digits, and 0 for what is smaller than they can tell."""
    return format_number(0.0 if abs(x) < 1e-7 else float(f"{x:.3g}"), 3)
