"""The panes beside the tape: the current node, the leaves, the engine, and the sentence below them all."""

from __future__ import annotations

from textual.message import Message

from tui.time.cursor import StepCursor
from tui.widgets.look import styled
from tui.widgets.pane import Pane
from tui.widgets.styled_text import StyledLine
from tui.words.describe import LABEL, Describer
from tui.words.sentence import sentence

PANES = ("node", "source", "leaves", "engine", "watch")  # in the order of their keys


class NodePane(Pane):
    """The current node: its rule, what came in, what it had kept, what it sent to whom."""

    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `Describer.node`."""
        return [styled(line, ascii=self.ascii) for line in Describer(cursor, self.text_width).node()]


class LeavesPane(Pane):
    """Every leaf's `.grad` so far."""

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `Describer.leaves`."""
        return [styled(line, ascii=self.ascii) for line in Describer(cursor, self.text_width, limit=100).leaves()]

    def pointed(self, cursor: StepCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """To the step of the leaf that the line is about."""
        leaf = cursor.timeline.collectors[line : line + 1]
        nodes = [node for node in cursor.timeline.rows if cursor.timeline.node(node).variable in leaf]
        moment = cursor.next_of(nodes)
        return None if moment is None else self.Chosen(moment)


class EnginePane(Pane):
    """The ready queue, and what waits for more."""

    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `Describer.engine`."""
        return [styled(line, ascii=self.ascii) for line in Describer(cursor, self.text_width).engine()]


class SentencePane(Pane):
    """What this step did, and why."""

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `sentence`."""
        return [styled(sentence(cursor), ascii=self.ascii)]

    @property
    def overflows(self) -> bool:
        """Whether there is more to read than there is room."""
        return self.virtual_size.height > self.size.height
