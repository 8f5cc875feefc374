"""The parts that open pages and do no more: explanations, help, copies and files; and a newcomer's hints."""

from types import SimpleNamespace

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.shell.clipboard import MOST
from tui.stepper.copy_screen import CopyScreen
from tui.stepper.parts.copy_export import CopyExport
from tui.stepper.parts.explanations import Explanations
from tui.stepper.parts.findings import Findings
from tui.stepper.parts.help_pages import HelpPages
from tui.stepper.parts.movement import Movement
from tui.stepper.parts.newcomer_hints import HINTS, NewcomerHints
from tui.stepper.why_screen import WhyScreen
from tui.widgets.array_view import ArrayScreen
from tui.widgets.help import HelpScreen
from tui.widgets.panes import LeavesPane


@pytest.fixture
def stepper():
    stepper = FakeStepper(handmade.diamond())
    stepper.cursor = stepper.cursor.move(3)
    return stepper


def explaining(stepper):
    findings = stepper.add(Findings(stepper, FakeBackground(), None))
    return Explanations(stepper, Movement(stepper), findings, None)


def test_a_gradient_is_explained_and_the_answer_leads_to_a_step(stepper):
    explanations = explaining(stepper)
    explanations.why()
    assert isinstance(stepper.page, WhyScreen)
    stepper.close_page(4)
    assert stepper.cursor.node == 4
    explanations.why_of("x")
    assert isinstance(stepper.page, WhyScreen)
    with pytest.raises(LookupError):
        explanations.why_of("nothing")


def test_an_element_of_an_array_is_explained(stepper):
    explanations = explaining(stepper)
    explanations.array()
    assert isinstance(stepper.page, ArrayScreen)
    stepper.close_page(())
    assert isinstance(stepper.page, WhyScreen)


def test_where_there_are_no_numbers_it_says_so():
    stepper = FakeStepper(handmade.Tape("empty.py", "").recording())
    explaining(stepper).array()
    assert stepper.notices == ["There are no numbers here yet."]


def test_f1_explains_the_focus_or_else_everything(stepper):
    pages = HelpPages(stepper, ())
    pages.explain()
    assert isinstance(stepper.page, HelpScreen)
    assert stepper.page._about is None
    pane = LeavesPane()
    stepper.focused = SimpleNamespace(ancestors_with_self=[SimpleNamespace(), pane])
    pages.explain()
    assert stepper.page._about == ("leaves", LeavesPane.EXPLAINED)


def test_the_pane_that_has_the_focus_is_copied_first(stepper, monkeypatch, tmp_path):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path))
    stepper.focused = LeavesPane()
    CopyExport(stepper).copy()
    assert isinstance(stepper.page, CopyScreen)
    first = stepper.page._pieces[0]
    assert first.what == "the leaves pane"
    copied = []
    stepper.app.copy_to_clipboard = copied.append
    stepper.close_page(first._replace(words="x" * 3))
    assert copied == ["xxx"]
    assert len(copied[0]) < MOST
    assert stepper.notices[0].startswith("copied the leaves pane")


def test_a_notification_names_the_written_file(stepper):
    CopyExport(stepper)._exported("wrote graph.svg")
    assert stepper.notices == ["wrote graph.svg"]


def test_a_newcomer_sees_each_hint_and_then_no_more():
    stepper = FakeStepper(handmade.diamond(), keys={"move(1)": ["j"]})
    stepper.add(NewcomerHints(stepper, wanted=True))
    assert "Press j for its first step" in stepper.banner
    for hint in HINTS[1:]:
        stepper.cursor = stepper.cursor.move(1)
        assert stepper.banner == stepper.key_names.spell(hint)
    stepper.cursor = stepper.cursor.move(1)
    assert stepper.banner == ""
    stepper.cursor = stepper.cursor.move(-1)
    assert stepper.banner == ""


def test_nobody_else_sees_a_hint():
    stepper = FakeStepper(handmade.diamond())
    stepper.add(NewcomerHints(stepper, wanted=False))
    assert stepper.banner == ""
