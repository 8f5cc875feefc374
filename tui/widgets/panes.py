"""The table of panes, three of them, and the sentence below them all.

To add a pane, write its class, with its name, its explanation and its share of the height, and put it into `PANES`.
"""

from __future__ import annotations

from textual.message import Message

from tui.time.cursor import StepCursor
from tui.widgets.pane import Pane
from tui.widgets.role_styles import styled
from tui.widgets.source_pane import SourcePane
from tui.widgets.styled_text import StyledLine
from tui.widgets.watch_pane import WatchPane
from tui.words.pane_texts import LABEL, PaneTexts
from tui.words.sentence import sentence


class NodePane(Pane):
    """The current node: its rule, the gradient it received, what it had kept, and what it sent to which node."""

    DEFAULT_CSS = "NodePane { height: 19fr; }"
    NAME = "node"
    EXPLAINED = (
        "The node that this step evaluates. rule: what it computes, and its derivatives. received: the gradient "
        "from its buffer. kept: what forward saved for backward, with its version, which an in-place "
        "write would change. sends: the rule with this step's numbers, the receiver, and its sum "
        "so far. {array} shows the numbers as a table; click a node's name to go to its step."
    )
    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `PaneTexts.node`."""
        return [styled(line, ascii=self.ascii) for line in PaneTexts(cursor, self.text_width).node()]


class LeavesPane(Pane):
    """Every leaf's `.grad` so far."""

    DEFAULT_CSS = "LeavesPane { height: 8fr; }"
    NAME = "leaves"
    EXPLAINED = (
        "The tensors whose gradients backward computes. .grad changes only once every term has arrived and the leaf's "
        "own step (AccumulateGrad) adds the sum to it; until then the row counts the terms, as in 1 of 3 terms. Click "
        "a row to go to that step."
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

    DEFAULT_CSS = "EnginePane { height: 6fr; }"
    NAME = "engine"
    EXPLAINED = (
        "The state of the engine. ready: nodes whose terms have all arrived, the next one first; leaves first, then "
        "the node that was recorded last. waiting: nodes with some terms in their buffer that need more."
    )
    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `PaneTexts.engine`."""
        return [styled(line, ascii=self.ascii) for line in PaneTexts(cursor, self.text_width).engine()]


class SentencePane(Pane):
    """What this step did, and why. It is below the panes, and is none of them."""

    NAME = "sentence"
    EXPLAINED = "What this step did and why, in words, with its numbers."

    def __init__(self, id: str = "", *, ascii: bool = False) -> None:
        super().__init__(id, ascii=ascii)
        self.border_title = ""

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `sentence`."""
        return [styled(sentence(cursor), ascii=self.ascii)]

    @property
    def overflows(self) -> bool:
        """Whether there is more to read than there is room."""
        return self.virtual_size.height > self.size.height


PANES: tuple[type[Pane], ...] = (NodePane, SourcePane, LeavesPane, EnginePane, WatchPane)
"""In the order of the screen, of Tab and of the digits that show them."""
