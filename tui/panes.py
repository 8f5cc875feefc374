"""The panes beside the tape: the current node, the leaves, the engine, and the sentence below them all."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from tui.cursor import StepCursor
from tui.describe import LABEL, Describer
from tui.look import content
from tui.pane import Pane
from tui.sentence import sentence


class NodePane(Pane):
    """The current node: its rule, what came in, what it had kept, what it sent to whom."""

    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[Content]:
        """See `Describer.node`."""
        return [content(line, ascii=self.ascii) for line in Describer(cursor, self.size.width).node()]


class LeavesPane(Pane):
    """Every leaf's `.grad` so far."""

    def lines(self, cursor: StepCursor) -> list[Content]:
        """See `Describer.leaves`."""
        return [content(line, ascii=self.ascii) for line in Describer(cursor, self.size.width, limit=100).leaves()]


class EnginePane(Pane):
    """The ready queue, and what waits for more."""

    HANGING = LABEL

    def lines(self, cursor: StepCursor) -> list[Content]:
        """See `Describer.engine`."""
        return [content(line, ascii=self.ascii) for line in Describer(cursor, self.size.width).engine()]


class SentenceBar(Static):
    """What this step did, and why."""

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)

    def __init__(self, id: str, *, ascii: bool = False) -> None:
        super().__init__(id=id)
        self._ascii = ascii

    def watch_cursor(self, cursor: StepCursor | None) -> None:
        """Say another sentence."""
        if cursor is not None:
            self.update(content(sentence(cursor), ascii=self._ascii), layout=False)
