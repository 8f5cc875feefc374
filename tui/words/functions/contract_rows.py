"""The rows of the node pane for a Function: what the pane shows of any node, with the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from microtape.recording.model.contracts import Contract
from microtape.recording.model.model import NodeRecord, SavedUse, Value
from tui.shell.spans import Line, Role, Span, line, sentence_list
from tui.time.cursor import StepCursor
from tui.words.functions.contract import (
    PURE,
    context,
    contract_at,
    grouped,
    names_of,
    renamed,
    role_of_all,
    saved_role,
    tone,
    whole_role,
)

ArrayText: TypeAlias = "Callable[[Value | None, int, Role], Line]"
"""Writes a value in about that many characters."""

ROLE = 24  # characters kept free for the role
NEEDED = "needs a gradient"


class ContractRows:
    """The rows of one Function's node at a moment, without the labels on their left."""

    def __init__(self, cursor: StepCursor, node: NodeRecord, found: Contract, width: int, array: ArrayText) -> None:
        self.cursor, self.node, self.found, self.width, self.array = cursor, node, found, width, array

    @classmethod
    def of(cls, cursor: StepCursor, node: NodeRecord, width: int, array: ArrayText) -> ContractRows | None:
        """The rows of a node; None if it is no Function's, or its contract was not recorded."""
        found = contract_at(cursor, node.id)
        return None if found is None else cls(cursor, node, found, width, array)

    def arguments(self) -> Iterator[Line]:
        """`x = y  [1, 2]  needs a gradient`; `lo = -1.0, hi = 4.0  no tensors`."""
        for group in grouped(self.found.arguments):
            if group[0].edge is None:
                texts = [f"{one.name} = {one.value.text}" for one in group]
                yield line(", ".join(texts), "  ", self._role(role_of_all(group)))
            else:
                value = None if group[0].value.ref is None else self.cursor.recording.value(group[0].value.ref)
                yield self._row(names_of(self.cursor, group), value, "value", group[0].role)

    def results(self) -> Iterator[Line]:
        """`inside  [True, False]  non-differentiable (mark_non_differentiable)`, for each output."""
        value_of = self.cursor.recording.value
        for one in self.found.outputs:
            name, role = Span(one.name, "name"), self._role(whole_role(one))
            if not self.cursor.exists(self.node.id):
                yield line(name, "  ", Span("not computed yet", "dim"), "  ", role)
                continue
            room = self.width - len(one.name) - ROLE
            shown = [self.array(value_of(ref), room, "value") for ref in (one.before, one.value) if ref is not None]
            values = line(*shown[0], *(line(" → ", *shown[1]) if shown[1:] else ())) if shown else ()
            yield line(name, "  ", *values, "  ", role)

    def received(self, number: int, gradient: Value | None) -> Line | None:
        """The gradient that came for an output, before hooks; None if the contract does not know that output."""
        if self.node.kind != "function" or number >= len(self.found.outputs):
            return None
        one = self.found.outputs[number]
        name = line(Span(one.name, "name"))
        if one.gradient is None or one.is_zeros:
            what = "zeros: " if one.is_zeros else "None: "
            why = "nothing came" if one.is_differentiable else one.role
            return line(*name, "  ", Span(what, "dim"), Span(why, "dim" if one.is_differentiable else tone(one.role)))
        return self._row(name, gradient, "gradient", "" if one.role in PURE else one.role)

    def keeps(self) -> Iterator[Line]:
        """`mask  intermediate, version 0`, before backward."""
        for one in self.found.saved:
            yield line(*renamed(self.cursor, one.name, one.saved.ref), "  ", saved_role(one))

    def saved_as(self, use: SavedUse) -> Line:
        """`   intermediate, version 0, now 0`."""
        return next((line("   ", saved_role(one)) for one in self.found.saved if one.saved[:2] == use[:2]), ())

    def argument_of(self, edge: int) -> Line:
        """`x ` before the delivery of its gradient."""
        return next((line(Span(one.name, "op"), " ") for one in self.found.arguments if one.edge == edge), ())

    def context(self) -> Line:
        """The attributes of ctx and what it promises, in one line."""
        every = [span for one in context(self.cursor, self.found) for span in (Span(", "), *one)]
        return line(*every[1:])

    def not_sent(self) -> Iterator[Line]:
        """`None for lo, hi (no tensors)`; and the gradients that backward computed although nobody needs them."""
        quiet = [one for one in self.found.arguments if one.role != NEEDED]
        none = grouped([one for one in quiet if one.gradient is None])
        groups = [line(*names_of(self.cursor, one), f" ({role_of_all(one)})") for one in none]
        if groups:
            yield line(Span("None for ", "dim"), *sentence_list(groups, 6))
        for one in quiet:
            if one.gradient is not None:
                yield self._row(line(Span(one.name, "op")), one.gradient, "gradient", "computed, but not needed")

    def _row(self, names: Line, value: Value | None, role: Role, what: str) -> Line:
        used = sum(len(span.text) for span in names) + 2 + ROLE
        after = line("  ", self._role(what)) if what else ()
        return line(*names, "  ", *self.array(value, self.width - used, role), *after)

    def _role(self, text: str) -> Span:
        return Span(f" {text}", tone(text))
