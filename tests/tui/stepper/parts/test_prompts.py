"""The prompt finds the part that answers it."""

from types import SimpleNamespace

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.stepper.parts.key_declarations import answers
from tui.stepper.parts.part import Part
from tui.stepper.parts.prompts import Prompts
from tui.widgets.prompt import Purpose

NAME, PLACE = Purpose("name", "any name"), Purpose("place", "any place")


class Answering(Part):
    heard = ()

    @answers(NAME, "n", "name it")
    def rename(self, text):
        if not text:
            raise LookupError("it needs a name")
        self.heard = (*self.heard, text)

    @answers(PLACE, "p", "place it", doing="looking", prepare=lambda cursor, text: prepared.append(text))
    def place(self, text):
        self.heard = (*self.heard, f"at {text}")


prepared = []


class Prompt:
    purpose, problem, is_open = None, "", False

    def open(self, purpose):
        self.purpose, self.is_open = purpose, True

    def close(self):
        self.is_open = False

    def refuse(self, why):
        self.problem = why


@pytest.fixture
def made():
    prompt, view = Prompt(), SimpleNamespace(call_later=lambda callback: callback() or True)
    stepper = FakeStepper(handmade.diamond(), prompt)
    part, background = Answering(stepper), FakeBackground()
    prompts = Prompts(stepper, background, SimpleNamespace(main=view), [part])
    return SimpleNamespace(stepper=stepper, prompts=prompts, prompt=prompt, part=part, view=view, background=background)


async def test_it_opens_asks_and_closes_with_an_answer(made):
    made.prompts.ask("name")
    assert (made.prompt.purpose, made.prompt.is_open) == (NAME, True)
    assert made.stepper.was_stopped
    await made.prompts.answer("name", "w1")
    assert made.part.heard == ("w1",)
    assert not made.prompt.is_open
    assert made.stepper.focused is made.view


async def test_a_refusal_leaves_it_open(made):
    made.prompts.ask("name")
    await made.prompts.answer("name", "")
    assert (made.prompt.problem, made.prompt.is_open) == ("it needs a name", True)
    assert made.stepper.focused is None


async def test_slow_answers_are_prepared_first(made):
    prepared.clear()
    await made.prompts.answer("place", "here")
    assert (prepared, made.part.heard) == (["here"], ("at here",))


async def test_while_it_is_prepared_nothing_is_answered(made):
    made.background.prepared = lambda what, prepare, then: False
    made.prompts.ask("place")
    await made.prompts.answer("place", "here")
    assert made.part.heard == ()
    assert made.prompt.is_open
    await made.prompts.closed()
    assert made.background.was_stopped
    assert made.stepper.focused is made.view
