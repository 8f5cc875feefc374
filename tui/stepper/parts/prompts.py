"""The prompt at the bottom: it opens for one of several purposes, and the part that declares the purpose answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from microtape.recording.script.condition import ExpressionError
from tui.stepper.parts.arrangement import Arrangement
from tui.stepper.parts.background import Background
from tui.stepper.parts.key_declarations import Answer, answers_of
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.prompt import Prompt


class Prompts(Part[Stepper]):
    """Opens the prompt, and takes what was typed to the part that answers it."""

    def __init__(
        self, stepper: Stepper, background: Background, arrangement: Arrangement, parts: Iterable[Part[Any]]
    ) -> None:
        super().__init__(stepper)
        self._background = background
        self._arrangement = arrangement
        self._answers = {one.purpose.name: one for part in parts for one in answers_of(part)}

    def ask(self, purpose: str) -> None:
        """Open the prompt."""
        self.stepper.stop_playing()
        self.stepper.query_one(Prompt).open(self._answers[purpose].purpose)

    async def answer(self, purpose: str, text: str) -> None:
        """Do what the text asks for, once that is prepared."""
        answer = self._answers[purpose]
        if answer.prepare is not None:
            prepare = partial(answer.prepare, self.cursor, text)
            if not self._background.prepared(answer.doing, prepare, partial(self._answer, answer, text)):
                return
        await self._answer(answer, text)

    async def _answer(self, answer: Answer, text: str) -> None:
        """Show the answer, close the prompt and return the focus in one paint; or say why there is no answer."""
        prompt = self.stepper.query_one(Prompt)
        with self.stepper.app.batch_update():
            try:
                answer.method(text)
            except (LookupError, ExpressionError) as problem:
                prompt.refuse(str(problem.args[0]))
            else:
                prompt.close()
                await self._return_focus()

    async def closed(self) -> None:
        """Closing the prompt cancels its search."""
        self._background.stop()
        await self._return_focus()

    async def _return_focus(self) -> None:
        """Focus the tape or the boxes. This is over once the view knows: a later paint would show it without."""
        view, knows = self._arrangement.main, asyncio.Event()
        self.stepper.set_focus(view)
        self.stepper.refresh_bindings()
        if view.call_later(knows.set):
            await knows.wait()
