"""What the stepper remembers, and keys of one's own."""

import json

import pytest

from lessons.learner import workspace
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, SMALL, bar, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.commands.cli import main
from tui.shell.data_folder import data_folder
from tui.shell.exits import Exit
from tui.shell.remembered import MOST_PLACES, Remembered, SavedMoment, is_wanted, key_of
from tui.shell.user_keys import KeysError, actions_of, read_keys, rebind
from tui.stepper.stepper import StepperScreen


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("MICROTAPE_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("MICROTAPE_REMEMBER", raising=False)
    return tmp_path / "data"


def remembering(recording, **options):
    return stepper(recording, remembers=True, **options)


async def test_it_opens_as_it_was_left_at_the_same_place():
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "v", "3")
        pilot.app.theme = "microtape-light"
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert bar(pilot.app) == "step 2 of 5"
        assert pilot.app.theme == "microtape-light"
        assert (pilot.app.screen.arrangement.view, pilot.app.screen.panes.chosen) == ("boxes", "leaves")
        assert "Back where you left" in notices(pilot.app)


async def test_a_newcomer_sees_hints_for_three_steps_only_once():
    async with remembering(handmade.diamond(), keymap={"why": ("i",)}).run_test(size=SMALL) as pilot:
        banner = pilot.app.screen.query_one("#banner")
        assert "Press → for its first step" in " ".join(shown(pilot.app, "#banner").split())
        await pilot.press("right")
        assert "▶ has just run" in shown(pilot.app, "#banner")
        await pilot.press("left")
        assert "Your program's tape" in shown(pilot.app, "#banner")
        await pilot.press("right", "right")
        assert shown(pilot.app, "#banner").split()[0] == "i", "with the user's own keys"
        await pilot.press("right")
        assert not banner.display
        await pilot.press("left", "left", "left")
        assert not banner.display
    async with remembering(handmade.chain(4)).run_test(size=SMALL) as pilot:
        assert not pilot.app.screen.query_one("#banner").display


async def test_what_was_not_chosen_is_not_remembered():
    async with remembering(handmade.diamond()).run_test(size=(140, 60)) as pilot:
        await pilot.pause()
        assert pilot.app.screen.arrangement.view == "both", "it fits this terminal"
    assert (Remembered.load().view, Remembered.load().theme) == ("", "")
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert pilot.app.screen.arrangement.view == "tape"


async def test_the_pass_is_remembered_too():
    async with remembering(handmade.twice()).run_test(size=SMALL) as pilot:
        await pilot.press("right_square_bracket", "right")
    async with remembering(handmade.twice()).run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert pilot.app.screen.cursor.timeline.pass_index == 1
        assert bar(pilot.app).startswith("step 1")


async def test_another_recording_begins_at_its_beginning():
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right")
    async with remembering(handmade.chain(4)).run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert bar(pilot.app).startswith("step 0 of")


async def test_a_theme_that_was_asked_for_comes_before_the_remembered_one():
    Remembered(theme="microtape-light").save()
    async with remembering(handmade.diamond(), theme="dark").run_test(size=SMALL) as pilot:
        assert pilot.app.theme == "microtape-dark"


async def test_where_nothing_is_to_be_remembered_nothing_is_written(data):
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right")
    assert not data.exists()


@pytest.mark.parametrize("value", ["0", "no", "off", "False"])
def test_it_can_be_switched_off(monkeypatch, value):
    assert is_wanted()
    monkeypatch.setenv("MICROTAPE_REMEMBER", value)
    assert not is_wanted()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": 9}', '{"format": 1}', "[" * 100_000, '{"format": 1, "places": {"x": [1]}}'],
)
async def test_a_damaged_file_is_as_good_as_none(data, text):
    data.mkdir()
    (data / "stepper.json").write_text(text)
    assert Remembered.load() == Remembered()
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right")
        assert bar(pilot.app) == "step 1 of 5"
    assert json.loads((data / "stepper.json").read_text())["format"] == 1


@pytest.mark.parametrize("place", [SavedMoment(7, 0), SavedMoment(-1, 2), SavedMoment(0, 10**9), SavedMoment(0, -5)])
async def test_a_place_that_is_not_there_is_the_nearest_or_none(place):
    Remembered(places={key_of(handmade.diamond()): place}).save()
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert 0 <= pilot.app.screen.cursor.position <= pilot.app.screen.cursor.timeline.last


async def test_where_it_cannot_be_written_nothing_is_lost(data):
    data.write_text("a file in the way of the folder")
    async with remembering(handmade.diamond()).run_test(size=SMALL) as pilot:
        await pilot.press("right")
    assert data.read_text() == "a file in the way of the folder"


def test_the_oldest_places_are_forgotten():
    known = Remembered()
    for number in range(MOST_PLACES + 5):
        known = Remembered(places=known.with_place(str(number), SavedMoment(0, number)))
    known.save()
    places = Remembered.load().places
    assert len(places) == MOST_PLACES
    assert str(MOST_PLACES + 4) in places


def test_all_of_a_user_s_data_is_in_one_folder():
    assert data_folder() == workspace.data_folder()


# Keys


def keys(data, text):
    data.mkdir(exist_ok=True)
    (data / "keys.toml").write_text(text)
    return read_keys(actions_of(StepperScreen(handmade.diamond())))


async def test_keys_of_ones_own_replace_the_others(data):
    keymap = keys(data, '"move(1)" = "j,ctrl+n"\n"move(-1)" = ";"\n"passes" = ""\n')
    async with stepper(handmade.diamond(), keymap=keymap).run_test(size=LARGE) as pilot:
        await pilot.press("j", "2", "j", "ctrl+n")
        assert bar(pilot.app) == "step 3 of 5", "a key of one's own comes before that of what has the focus"
        await pilot.press("semicolon")
        await pilot.press("semicolon")
        assert bar(pilot.app) == "step 1 of 5"
        await pilot.press("right", "l")
        assert bar(pilot.app) == "step 1 of 5", "its old keys are free"
        await pilot.press("s")
        assert isinstance(pilot.app.screen, StepperScreen)
        await pilot.press("end")
        assert bar(pilot.app) == "step 5 of 5", "what is not named keeps its keys"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('"mov(1)" = "n"', "there is no action 'mov(1)': `microtape keys` lists them"),
        ('"home" = "hoome"', "home: there is no key 'hoome'"),
        ('"home" = 7', "home: its keys must be one string"),
        ('"home" = "g"', "g is bound to both ask('go to') and home: give one of them another key"),
        ('"home" = ', "not TOML: "),
    ],
)
def test_a_mistake_is_one_clear_line(data, capfd, text, problem):
    with pytest.raises(KeysError, match=r"keys\.toml: ") as raised:
        keys(data, text)
    assert problem in str(raised.value)
    assert main(["keys"]) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)


def test_what_the_command_prints_is_such_a_file(data, capfd):
    assert main(["keys"]) == Exit.OK
    out = capfd.readouterr().out
    assert "step forward inside a step" in out
    screen = StepperScreen(handmade.diamond())
    assert dict(keys(data, out)) == actions_of(screen)
    (data / "keys.toml").write_text('"home" = "U"\n')
    rebind(screen, read_keys(actions_of(screen)))
    assert actions_of(screen)["home"] == ("U",)


async def test_the_stepper_opens_in_spite_of_a_mistake_and_says_it():
    async with stepper(handmade.diamond(), notice="keys.toml: there is no action").run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert "there is no action" in notices(pilot.app)
