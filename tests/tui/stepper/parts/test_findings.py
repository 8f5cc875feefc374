"""What is wrong, as a part of the stepper."""

import gc

import pytest

import microtape as mt
from microtape.recording.findings import find, findings, known_findings
from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.shell.spans import plain
from tui.stepper.parts import findings as part_module
from tui.stepper.parts.findings import Findings
from tui.words.findings import explained


class FakePanes:
    shown = "node"

    def show_for_now(self, name):
        self.shown = name


def made(recording):
    stepper = FakeStepper(recording)
    return stepper, stepper.add(Findings(stepper, FakeBackground(), FakePanes()))


def with_one():
    x = mt.tensor([0.0, 0.0], requires_grad=True)
    return mt.record((x * x).sum().sqrt().backward)


def with_two_passes():
    """Nothing is wrong in the first pass, two things are in the second."""
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with mt.record() as recorded:
        (x * x).sum().backward()
        ((x - x).sum().sqrt() + (x - 1.0).log().sum()).backward()
    return recorded.recording


def test_it_knows_at_once_and_shows_the_first():
    stepper, part = made(with_one())
    assert part.line is not None
    assert (part.line.number, part.line.of, part.line.key) == (1, 1, "<next_finding>")
    assert part.line.explains == "<why>", "before the first step, the finding is what there is to explain"
    assert stepper.changes


def test_a_long_recording_is_searched_after_the_first_paint(monkeypatch):
    monkeypatch.setattr(part_module, "SHORT", 0)
    stepper, part = made(with_one())
    part.next_finding()
    assert stepper.notices == ["The search for what is wrong is still running."]
    assert part.line is None
    stepper.timers[0].callback()
    assert part.line is not None


def test_the_key_goes_there_and_says_that_it_is_the_only_one():
    stepper, part = made(with_one())
    part.next_finding()
    there = stepper.cursor
    assert there.step.index == part.found[0].step
    assert there.node == part.found[0].node
    part.next_finding()
    assert stepper.cursor is there
    assert stepper.notices == ["This is the only finding."]


def test_the_key_goes_round_and_into_another_pass():
    stepper, part = made(with_two_passes())
    assert len(part.found) > 1
    seen = []
    for _ in range(len(part.found) + 1):
        part.next_finding()
        assert stepper.cursor.timeline.pass_index == part.current.pass_
        assert part.explained is part.current
        seen.append(part.current)
    assert seen == [*part.found, part.found[0]]


def test_from_elsewhere_it_leads_back_to_the_one_that_is_shown():
    stepper, part = made(with_two_passes())
    part.next_finding()
    part.next_finding()
    shown = part.current
    stepper.cursor = stepper.cursor.home()
    part.next_finding()
    assert part.current is shown


def test_at_a_culprit_that_was_stepped_to_the_line_shows_its_finding():
    stepper, part = made(with_two_passes())
    second = part.found[1]
    stepper.cursor = stepper.cursor.to_pass(second.pass_).end()
    while stepper.cursor.node != second.node:
        stepper.cursor = stepper.cursor.back()
    assert part.current.node == second.node
    assert part.explained is part.current


def test_elsewhere_nothing_but_the_gradient_is_explained():
    stepper, part = made(with_one())
    stepper.cursor = stepper.cursor.forward()
    assert stepper.cursor.node != part.found[0].node or part.explained
    stepper.cursor = stepper.cursor.end()
    assert part.explained is None


def test_where_nothing_is_wrong_it_says_so():
    stepper, part = made(handmade.diamond())
    part.next_finding()
    part.findings()
    assert plain(part.line) == "∂z/∂x and ∂z/∂y, through 3 operations"
    assert stepper.notices == ["Nothing wrong was found in this recording."] * 2


def test_the_list_leads_to_one():
    stepper, part = made(with_two_passes())
    part.findings()
    stepper.close_page(part.found[-1])
    assert part.current is part.found[-1]
    assert stepper.cursor.timeline.pass_index == part.found[-1].pass_
    part.findings()
    stepper.close_page(None)
    assert part.current is part.found[-1]


def test_the_source_comes_into_view_with_the_line():
    _, part = made(with_one())
    assert part.culprit is not None
    part.next_finding()
    assert part._panes.shown == "source"


def test_findings_are_computed_once_for_a_recording():
    recording = with_one()
    assert known_findings(recording) is None
    assert findings(recording) is findings(recording) is known_findings(recording)


def test_what_was_found_is_forgotten_with_the_recording():
    recording = with_one()
    findings(recording)
    number = id(recording)
    del recording
    gc.collect()
    assert number not in find._known


@pytest.mark.parametrize("ascii", [False, True])
def test_an_explanation_has_a_remedy_and_the_line(ascii):
    recording = with_one()
    texts = ["".join(span.text for span in one) for one in explained(recording, findings(recording)[0], ascii=ascii)]
    assert texts[0].startswith("x " if ascii else "✗ ")
    assert texts[-2].startswith("Remedy: ")
    assert texts[-1].startswith("Lesson ")
    assert any("test_findings.py:" in text for text in texts)
