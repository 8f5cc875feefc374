"""The prompt of the stepper: what was typed there is done, or it is said why not."""

from __future__ import annotations

import asyncio
from functools import partial

from microtape.recording.script.condition import ExpressionError
from tui.stepper.arranging import ArrangingScreen
from tui.time.search import found_nodes
from tui.widgets.prompt import Prompt, Purpose


class AskingScreen(ArrangingScreen):
    """A screen with a cursor and a prompt."""

    def action_ask(self, purpose: Purpose) -> None:
        """Ask where to go, or where to stop."""
        self.stop_playing()
        self.query_one(Prompt).open(purpose)

    async def on_prompt_asked(self, message: Prompt.Asked) -> None:
        """Do it, or say why not."""

        if message.purpose in ("find", "filter") and self.cursor is not None:
            search = partial(found_nodes, self.cursor, message.target)
            if not self.prepared("searching", search, partial(self._answer, message)):
                return
        await self._answer(message)

    async def _answer(self, message: Prompt.Asked) -> None:
        """What was asked for, the prompt and the focus change in one paint, not in three."""
        prompt = self.query_one(Prompt)
        with self.app.batch_update():
            try:
                if message.purpose == "go to" and self.cursor is not None:
                    self.cursor = self.cursor.goto(message.target)
                elif message.purpose == "find":
                    self.find(message.target)
                elif message.purpose == "filter":
                    self.filter(message.target)
                elif message.purpose == "why of":
                    self.explain(message.target)
                elif message.purpose in ("break at", "watch"):
                    self.toggle_stop(message.target, "watch" if message.purpose == "watch" else "break")
            except (LookupError, ExpressionError) as problem:
                prompt.refuse(str(problem.args[0]))
            else:
                prompt.close()
                await self._return_focus()

    async def on_prompt_closed(self) -> None:
        """Back to the tape. Who closes while something is searched for wants it no more."""
        self.stop_working()
        await self._return_focus()

    async def _return_focus(self) -> None:
        """Focus the tape or the boxes; over once the view knows."""
        view, knows = self.query_one(f"#{self.main_view}"), asyncio.Event()
        self.set_focus(view)
        self.refresh_bindings()
        if view.call_later(knows.set):
            await knows.wait()
