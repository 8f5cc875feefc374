"""The prompt at the bottom: it opens for a purpose, and passes the typed text to the part that declared the purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from microtape.recording.choosing.condition import ExpressionError
from tui.stepper.parts.arrangement import Arrangement
from tui.stepper.parts.background import Background
from tui.stepper.parts.key_declarations import Answer, answers_of
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.prompt import Prompt


class Prompts(Part[Stepper]):
    """Opens the prompt, and passes the typed text to the part that answers it."""

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
        """Run the answering method, after its preparation."""
        answer = self._answers[purpose]
        if answer.prepare is not None:
            prepare = partial(answer.prepare, self.cursor, text)
            if not self._background.prepared(answer.doing, prepare, partial(self._answer, answer, text)):
                return
        await self._answer(answer, text)

    async def _answer(self, answer: Answer, text: str) -> None:
        """Show the answer, close the prompt and return the focus in one paint; or show why the text was refused."""
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
        """Focus the tape or the boxes, and wait until the view has handled it, so that one paint shows both changes."""
        view, handled = self._arrangement.main, asyncio.Event()
        self.stepper.set_focus(view)
        self.stepper.refresh_bindings()
        if view.call_later(handled.set):
            await handled.wait()
