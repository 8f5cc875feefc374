"""Three of the panes, the sentence below all panes, and `PANES`, the list of panes.

To add a pane, write its class, with its name, its explanation and its share of the height, and add it to `PANES`.
"""

from __future__ import annotations

from textual.message import Message

from tui.shell.key_names import KeyNames
from tui.shell.user_keys import actions_of
from tui.time.cursor import StepCursor
from tui.widgets.lines.role_styles import styled
from tui.widgets.lines.styled_text import StyledLine
from tui.widgets.pane import Pane
from tui.widgets.source_pane import SourcePane
from tui.widgets.watch_pane import WatchPane
from tui.words.pane_texts import LABEL, PaneTexts
from tui.words.sentence import sentence


class NodePane(Pane):
    """The current node: its rule, the gradient it received, the tensors it kept, and the gradients it sent."""

    DEFAULT_CSS = "NodePane { height: 19fr; max-height: 18; }"
    NAME = "node"
    EXPLAINED = (
        "The node that this step evaluates. rule: its formula, and the derivatives. received: the gradient from its "
        "input buffer. kept: the tensors that forward saved for backward, with their versions, which an in-place "
        "write would change. sends: the rule with this step's numbers, the receiver, and the receiver's sum "
        "so far. Of a Function, the pane also shows what the call promised: which arguments need a gradient, what each "
        "output is, and what ctx holds. {array} shows the numbers as a table; click a node's name to go to its step."
    )
    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `PaneTexts.node`."""
        return [styled(line, ascii=self.ascii) for line in PaneTexts(cursor, self.text_width).node()]


class LeavesPane(Pane):
    """Every leaf's `.grad` so far."""

    DEFAULT_CSS = "LeavesPane { height: 8fr; }"
    HANGING = 2
    NAME = "leaves"
    EXPLAINED = (
        "The tensors whose gradients backward computes. .grad changes only in the leaf's own step (AccumulateGrad), "
        "which runs once all terms have arrived; until then the row counts the terms: 1 of 3 terms. Click a row to go "
        "to that step."
    )

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `PaneTexts.leaves`."""
        return [styled(line, ascii=self.ascii) for line in PaneTexts(cursor, self.text_width, limit=100).leaves()]

    def click_message(self, cursor: StepCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """Go to the step of the leaf that the line is about."""
        leaf = cursor.timeline.collectors[line : line + 1]
        nodes = [node for node in cursor.timeline.rows if cursor.timeline.node(node).variable in leaf]
        moment = cursor.next_of(nodes)
        return None if moment is None else self.Chosen(moment)


class EnginePane(Pane):
    """The ready queue, and the nodes that wait for more terms."""

    DEFAULT_CSS = "EnginePane { height: 6fr; max-height: 8; }"
    NAME = "engine"
    EXPLAINED = (
        "The state of the engine. ready: nodes whose terms have all arrived, in the order in which they will run: "
        "leaves first, then the last recorded node. waiting: nodes that have received some of their terms."
    )
    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `PaneTexts.engine`."""
        return [styled(line, ascii=self.ascii) for line in PaneTexts(cursor, self.text_width).engine()]


class SentencePane(Pane):
    """The sentence about this step, below the panes. It is not in `PANES`."""

    NAME = "sentence"
    EXPLAINED = "This step in words: what it did and why, with its numbers."

    def __init__(self, id: str = "", *, ascii: bool = False) -> None:
        super().__init__(id, ascii=ascii)
        self.border_title = ""

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `sentence`."""
        key = KeyNames(actions_of(self.screen), ascii=self.ascii).first("move(1)")
        return [styled(sentence(cursor, forward_key=key), ascii=self.ascii)]

    @property
    def overflows(self) -> bool:
        """Whether the text is longer than the pane."""
        return self.virtual_size.height > self.size.height


PANES: tuple[type[Pane], ...] = (NodePane, SourcePane, LeavesPane, EnginePane, WatchPane)
"""The panes, in their order on the screen, for Tab and for the digits."""
