"""The last line of defence: an error of ours costs the user a notice, and nothing else."""

from functools import wraps
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ScreenStackError

import tui.guarded.trouble_report as trouble_report
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import bar, stepper
from tui.guarded.app import MOST, GuardedApp
from tui.guarded.trouble_report import write_report
from tui.stepper.findings_screen import FindingsScreen
from tui.stepper.parts.explanations import Explanations
from tui.stepper.parts.movement import Movement
from tui.stepper.stepper import StepperScreen
from tui.stepper.why_screen import WhyScreen


@pytest.fixture(autouse=True)
def data(monkeypatch, tmp_path, _no_app_survives_an_error):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path))
    monkeypatch.setattr(GuardedApp, "SURVIVES", True)
    return tmp_path


def break_method(monkeypatch, part, name):
    @wraps(getattr(part, name))  # with the declaration of its keys
    def fail(*_):
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(part, name, fail)


def notices(app):
    return [one.message for one in app._notifications]


def reports(data):
    return sorted((data / "troubles").glob("*.txt"))


async def test_an_error_in_a_keys_action_is_told_and_the_stepper_goes_on(monkeypatch, data):
    break_method(monkeypatch, Movement, "end")
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "end", "right")
        assert bar(pilot.app) == "step 2 of 5"
        (notice,) = notices(pilot.app)
        (report,) = reports(data)
        assert notice.startswith("That did not work, because of a mistake in microtape. ")
        assert report.name in notice
        text = report.read_text(encoding="utf-8")
        assert "ZeroDivisionError: on purpose" in text
        assert text.index("The last events:") < text.index("key='right'") < text.index("key='end'")


async def test_an_error_in_the_answer_to_a_prompt_is_told(monkeypatch, data):
    break_method(monkeypatch, StepperScreen, "on_prompt_answered")
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "x", "enter", "escape", "right")
        assert bar(pilot.app) == "step 1 of 5"
        assert len(notices(pilot.app)) == len(reports(data)) == 1


async def test_an_error_in_a_page_is_told_and_the_page_closes_as_ever(monkeypatch, data):
    break_method(monkeypatch, WhyScreen, "chose")
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "g", "x", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, WhyScreen)
        await pilot.press("enter", "escape")
        assert isinstance(pilot.app.screen, StepperScreen)
        assert len(reports(data)) == 1


async def test_an_app_that_fails_again_and_again_ends_and_keeps_the_place(monkeypatch, data):
    break_method(monkeypatch, Explanations, "why")
    kept = []
    app = stepper(handmade.diamond())
    monkeypatch.setattr(app, "keep", lambda: kept.append(app._stepper.cursor.position))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", *["enter"] * MOST)
        assert app.return_code is None
        await pilot.press("enter")
    assert app.return_code == 1
    assert kept[0] == 4
    assert "holds what happened (ZeroDivisionError)" in app._last_words


async def test_a_page_that_still_opens_heeds_no_key(data):
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        page = FindingsScreen([], 0)
        opened = pilot.app.push_screen(page)
        await pilot.app.run_action("walk(1)", page)
        assert not reports(data)
        await opened


async def test_without_a_folder_for_the_report_the_stepper_goes_on(monkeypatch, data):
    (data / "troubles").write_text("a file")
    break_method(monkeypatch, Movement, "end")
    async with stepper(handmade.diamond()).run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "right")
        assert bar(pilot.app) == "step 1 of 5"
        assert "No file could be written (ZeroDivisionError)." in notices(pilot.app)[0]


def test_the_oldest_reports_make_room(monkeypatch, data):
    monkeypatch.setattr(trouble_report, "MOST", 3)
    written = [write_report(ValueError(str(i)), [f"event {i} \ud800"]) for i in range(5)]
    assert reports(data) == written[-3:]
    assert "ValueError: 4" in Path(written[-1]).read_text(encoding="utf-8")


async def test_a_click_that_comes_after_the_last_page_does_nothing():
    app = GuardedApp()
    click = events.MouseDown(None, 1, 1, 0, 0, 1, False, False, False)
    with pytest.raises(ScreenStackError):
        await App.on_event(app, click)
    await app.on_event(click)
