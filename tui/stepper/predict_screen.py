"""The page that asks about a step before it is shown: which node runs next, a shape, a number.

The right answer is read from the recording, never computed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.formula import parse_formula, used_symbols
from microtape.recording.model.model import Delivery, Value
from tui.shell.backticks import colour_names
from tui.shell.spans import plain, shown
from tui.time.cursor import StepCursor
from tui.widgets.dialog import Dialog, keys_below
from tui.words.hook_effects import on_leaving
from tui.words.titles import title
from tui.words.worked_rule import formula_symbols, rule_text, worked_rule

MANY = 4  # the most numbers that a user can be asked to compute mentally
LISTED = 8  # the most numbers of an array that a question lists
ADDS = "Backward adds what arrives to what is there; None counts as nothing."
BY_RULE = "Put the numbers into the rule above: the gradient that arrived times the derivative for this operand."


class Question(NamedTuple):
    """A question about the next step."""

    ask: str  # with `names` in backticks
    right: str
    because: str
    kind: Literal["order", "shape", "number"] = "number"
    also: tuple[str, ...] = ()  # other right answers
    given: tuple[str, ...] = ()  # lines with all that the answer needs: the rule and its numbers
    hint: str = ""  # after a wrong guess, before the second one; it does not tell the answer
    about: str = ""  # the tensor that is asked about
    wrong: tuple[tuple[str, str], ...] = ()  # plausible wrong answers, each with a hint of its own

    def accepts(self, answer: str) -> bool:
        """Whether an answer is right, however it is written."""
        from lessons.model.answers import is_right  # imported late: most sessions never need it

        shape = self.kind == "shape"
        return any(is_right(answer, one, shape=shape, about=self.about) for one in (self.right, *self.also))

    def hint_after(self, answer: str) -> str:
        """The hint after a wrong guess: the one about that guess, or about its form, or else the question's own."""
        from lessons.model.answers import hint_about, wrong_form

        shape = self.kind == "shape"
        return (hint_about(answer, self.wrong, shape=shape, about=self.about)
                or wrong_form(answer, self.right, shape=shape, about=self.about) or self.hint)  # fmt: skip


def question_about(cursor: StepCursor) -> Question | None:
    """A question about the step after this moment; None if there is nothing to ask. The kinds alternate."""
    if cursor.is_forward or cursor.next_node is None:
        return None
    found = list(_questions(cursor, cursor.to_moment(cursor.position + 1)))
    return found[(cursor.steps_done + 1) % len(found)] if found else None


def _questions(before: StepCursor, after: StepCursor) -> Iterator[Question]:
    step = after.step
    assert step is not None
    node = after.timeline.node(step.node)
    name = plain(title(after, node.id))
    if len(before.ready) > 1:
        candidates = ", ".join(f"`{plain(title(before, one))}`" for one in sorted(before.ready)[:6])
        why = ("Leaves that are ready go first." if node.variable is not None
               else "Of all ready nodes, the last recorded goes first.")  # fmt: skip
        yield Question(
            f"Which runs next: {candidates}?", after.recording.label(node.id), why, "order", (f"%{node.id}", name),
            hint=why,
        )  # fmt: skip
    if step.error is not None:
        return
    if node.variable is not None:
        if _is_small(step.grad_after):
            had = "None" if step.grad_before is None else format_value(step.grad_before, 30)
            came = format_value(step.grad_outputs[0], 30)
            why = ("It was None, so the gradient that arrives becomes .grad." if step.grad_before is None
                   else f"Backward adds: {had} + {came}.")  # fmt: skip
            yield Question(f"`{name}`.grad is {had}, and {came} arrives. What is `{name}`.grad then?",
                           format_value(step.grad_after, 60), why, hint=ADDS, about=name)  # fmt: skip
        return
    for one in step.deliveries[:2]:
        yield from _about_delivery(after, name, one)


def _about_delivery(after: StepCursor, name: str, one: Delivery) -> Iterator[Question]:
    step, to = after.step, plain(title(after, one.node))
    if one.term is None or step is None:
        return
    given = next((value for value in step.grad_outputs if value is not None), None)
    has = f"`{name}` has the gradient {format_value(given, 40)}"
    if one.term.shape:
        why = f"A gradient always has the shape of its value, here of `{to}`."
        yield Question(f"{has}. What is the shape of the gradient it sends to `{to}`?", format_shape(one.term.shape),
                       why, "shape", hint=why)  # fmt: skip
    node, rule = after.timeline.node(step.node), worked_rule(after, step, one.output)
    if rule is None or not _is_small(one.term) or not _is_small(given, LISTED) or on_leaving(step):
        return
    symbols = formula_symbols(after, node)
    needed = used_symbols(parse_formula(node.formula).gradients[one.output].text) - {"g", "G"}
    if all(symbol in symbols and _is_small(symbols[symbol][1], LISTED) for symbol in needed):
        why = f"By its rule: {rule.text}{f' = {rule.numbers}' if rule.numbers else ''}."
        yield Question(f"{has}. What does it send to `{to}`?", format_value(one.term, 60), why,
                       given=tuple(_rule_lines(rule_text(after, node), symbols, needed)), hint=BY_RULE)  # fmt: skip


def _rule_lines(rule: str, symbols: Mapping[str, tuple[str, Value | None]], needed: Collection[str]) -> Iterator[str]:
    """The node's rule, and the values of the tensors in it that are needed: `%2 = 6, %3 = 5`."""
    yield f"rule  {rule}"
    shown = [symbols[symbol] for symbol in symbols if symbol in needed or symbol not in ("z", "Z")]
    texts = [(name, format_value(value, 40)) for name, value in shown if value is not None]
    here = [f"{name} = {text}" for name, text in texts if name != text]
    if here:
        yield f"here  {', '.join(here)}"


def _is_small(value: Value | None, most: int = MANY) -> bool:
    return isinstance(value, np.ndarray) and 0 < value.size <= most and value.dtype.kind in "fiu"


class PredictScreen(Dialog[bool | None]):
    """Asks one question and explains its answer. Closes with whether the answer was right; None if it was skipped.

    A wrong guess gets a hint and a second try; an empty answer shows the right one. The dialog is at the bottom, so
    that the step it asks about stays visible.
    """

    DEFAULT_CSS = """
    PredictScreen { align: center bottom; background: $background 0%; }
    PredictScreen > Vertical {
        width: 78; max-width: 100%; height: auto; border: round $accent; background: $surface; padding: 0 1;
        border-title-color: $text-accent; border-title-style: bold; border-subtitle-color: $text-muted;
    }
    PredictScreen Input, PredictScreen Input:focus {
        margin: 1 0; border: none; height: 1; padding: 0 1; background: $panel;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "skip", show=False),
        Binding("enter,right,l,space", "go_on", "go on", show=False),  # only after an answer
    ]

    def __init__(self, question: Question, *, ascii: bool = False) -> None:
        super().__init__()
        self._question, self._ascii = question, ascii
        self._verdict: bool | None = None
        self._has_guessed = False

    def compose(self) -> ComposeResult:
        """The question, an input, and room for the verdict."""
        with Vertical() as box:
            box.border_title = "predict"
            box.border_subtitle = keys_below(("enter", "Enter answers"), ("escape", "Esc skips"))
            yield Static(colour_names(self._question.ask))
            for one in self._question.given:
                yield Static(colour_names(shown(one, ascii=self._ascii), "$text-muted"))
            yield Input(placeholder="your guess; a wrong one costs nothing")
            yield Static(id="verdict")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Show the right answer, or a hint. After the answer the input is disabled, and the keys show the step."""
        event.stop()
        if self._verdict is not None:
            return
        answer = event.value.strip()
        right = self._question.accepts(answer)
        if answer and not right and not self._has_guessed:
            self._give_hint(event.input, answer)
            return
        self._verdict = right
        said = (
            ("Right", "bold $text-success") if self._verdict
            else ("Not quite" if answer else "It is", "bold $text-warning")
        )  # fmt: skip
        self.query_one("#verdict", Static).update(
            Content.assemble(said, f": {self._question.right}. ", colour_names(self._question.because))
        )
        event.input.disabled = True
        self.query_one(Vertical).border_subtitle = keys_below(("enter", "Enter shows the step"))

    def _give_hint(self, field: Input, answer: str) -> None:
        """Ask once more, with a hint and without the answer."""
        self._has_guessed = True
        field.value, field.placeholder = "", f"not {answer}: guess again"
        self.query_one("#verdict", Static).update(
            Content.assemble(("Not quite. ", "bold $text-warning"), colour_names(self._question.hint_after(answer)))
        )
        self.query_one(Vertical).border_subtitle = keys_below(
            ("enter", "Enter answers; without a guess, it shows the answer"), ("escape", "Esc skips")
        )

    def action_go_on(self) -> None:
        """Show the step, once the question is answered."""
        if self._verdict is not None:
            self.dismiss(self._verdict)

    def action_leave(self) -> None:
        """Close. A question without an answer is skipped; a given answer counts."""
        self.dismiss(False if self._has_guessed and self._verdict is None else self._verdict)
