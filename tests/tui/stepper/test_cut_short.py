"""A pass whose recording ends too early, by a fault of the recorder: it has not failed, and no view says so."""

from dataclasses import replace

from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, bar, shown, stepper
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.time.same_place import same_place
from tui.words.passes import PassOf, comparison_lines, pass_lines, passes_of
from viz.films.film import Film
from viz.notebook import _most_interesting

CUT = handmade.cut_short()


async def test_the_stepper_opens_at_the_call_and_marks_no_failure():
    async with stepper(CUT).run_test(size=LARGE) as pilot:
        assert bar(pilot.app) == "step 0 of 2"
        assert "not all recorded" in shown(pilot.app, "Heading")
        assert "✗" not in shown(pilot.app, "TimeBar")
        await pilot.press("end")
        assert "The recording of this pass ends here" in " ".join(shown(pilot.app, "#sentence").split())
    async with stepper(handmade.failing()).run_test(size=LARGE) as pilot:
        assert "✗" in shown(pilot.app, "TimeBar")


def test_the_lists_of_passes_call_it_cut_short():
    assert "".join(plain(one) for one in pass_lines(passes_of(CUT))).endswith("cut short")
    assert "failed" not in "".join(plain(one) for one in pass_lines(passes_of(CUT)))
    assert "failed" not in "".join(plain(one) for one in comparison_lines(PassOf(CUT, 0), PassOf(CUT, 0)))


def test_after_recording_again_the_place_stays():
    before = StepCursor.open(handmade.diamond()).move(1)
    after, _ = same_place(before, CUT)
    assert after.steps_done == 1


def test_a_notebook_shows_the_pass_that_failed():
    two = replace(CUT, passes=(*handmade.diamond().passes, CUT.passes[0]._replace(index=1)))
    assert _most_interesting(two) == 0
    assert _most_interesting(handmade.failing()) == 0


def test_a_film_shows_no_failure():
    pictures = Film(CUT)._frames(_Count())
    assert not any(box.state == "failed" for picture in pictures for box in picture.boxes)
    assert "where the recording of this pass ends" in pictures[-1].subtitle


class _Count:
    def begin(self, *_):
        pass

    def add(self, *_):
        pass
