"""The program changes under the stepper: edited with `e`, or followed with --watch; and the place that it keeps."""

import contextlib
import time

import pytest

from microtape.recording.script.run import record_script
from tests.tui.stepper.test_app import LARGE, SMALL, bar, row, sentence, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.shell.editor import editor_command
from tui.shell.opening import Origin, load_all
from tui.time.cursor import StepCursor
from tui.time.same_place import GONE, same_place

PROGRAM = """\
import microtape as mt

x = mt.tensor(2.0, requires_grad=True)
a = x * 3.0
b = a.exp()
c = b + x
c.backward()
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def recorded(path, text=None, **options):
    if text is not None:
        path.write_text(text)
    record_script(path, out="run.tape", **options)
    return load_all("run.tape")


# The same place


def stand(recording, name):
    return StepCursor.open(recording).goto(name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "change", "node", "said"),
    [
        ("a", ("import microtape as mt\n", "import microtape as mt\n\n# more lines\n"), "a", ""),
        ("a", ("x * 3.0", "x * 4.0"), "a", ""),
        ("a", ("a = x * 3.0\nb = a.exp()", "first = x * 3.0\nb = first.exp()"), "first", ""),
        ("x", ("x = ", "y = x = "), "x", ""),
        ("b", ("b = a.exp()", "b = a + 1"), "b", ""),
        ("b", ("b = a.exp()\nc = b + x", "c = a + x"), "c", GONE),
    ],
)
def test_a_node_is_found_again_by_its_line_or_its_name(script, name, change, node, said):
    old = stand(recorded(script), name)
    new, told = same_place(old, recorded(script, PROGRAM.replace(*change)))
    assert node in new.names(new.node)
    assert told == said


def test_in_a_loop_it_is_the_same_round(script):
    start = "import microtape as mt\nx = mt.tensor(1.0, requires_grad=True)\n"
    loop = start + "y = x\nfor _ in range(9):\n    y = y.sin()\ny.backward()\n"
    old = StepCursor.open(recorded(script, loop)).move(4)
    new, said = same_place(old, recorded(script, loop.replace("y = x\n", "y = x * 2\n")))
    assert (new.steps_done, said) == (4, "")


def test_the_ends_are_the_ends(script):
    old = StepCursor.open(recorded(script))
    longer = recorded(script, PROGRAM.replace("b = a.exp()", "b = a.exp().sin()"))
    assert same_place(old, longer)[0].steps_done == 0
    assert same_place(old.home(), longer)[0].position == 0


def test_the_pass_is_kept_and_a_missing_pass_is_reported(script):
    two = PROGRAM + "(x * x).backward()\n"
    old = StepCursor.open(recorded(script, two, passes="all"), 1)
    assert same_place(old, recorded(script, two, passes="all"))[0].timeline.pass_index == 1
    new, said = same_place(old, recorded(script, PROGRAM, passes="all"))
    assert (new.timeline.pass_index, said) == (0, "pass 2 no longer exists")


def test_a_pass_that_fails_now_is_shown_where_it_fails(script):
    old = stand(recorded(script), "x")
    new, _ = same_place(old, recorded(script, PROGRAM.replace("c = b + x", "b += 1\nc = b + x")))
    assert new.step is not None
    assert new.step.error is not None


# The editor


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "x.py"]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", "x.py"]),
        ("hx", ["hx", "x.py:7"]),
        ("/usr/bin/subl", ["/usr/bin/subl", "--wait", "x.py:7"]),
        ("code --wait", ["code", "--wait", "--goto", "x.py:7"]),
        ("code", ["code", "--wait", "--goto", "x.py:7"]),
        ("my-own", ["my-own", "x.py"]),
    ],
)
def test_an_editor_that_is_known_opens_on_the_line(monkeypatch, editor, command):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert editor_command("x.py", 7) == command


def test_visual_comes_before_editor(monkeypatch):
    monkeypatch.setenv("VISUAL", "vim")
    monkeypatch.setenv("EDITOR", "ed")
    assert editor_command("x.py")[0] == "vim"


@pytest.fixture
def editing(monkeypatch):
    """Let `e` do this to the file in place of an editor; the lines that it was opened on are collected."""
    opened = []

    def install(change):
        def run(command):
            opened.append(command[-2:])
            change()
            return ""

        monkeypatch.setenv("EDITOR", "vim")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setattr("tui.stepper.parts.rerecorder.run_in_terminal", run)
        monkeypatch.setattr("textual.app.App.suspend", lambda self: contextlib.nullcontext())
        return opened

    return install


async def settle(pilot, until, seconds=20):
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it did not come to pass"
        await pilot.pause(0.05)


async def test_e_opens_the_line_and_what_was_saved_is_recorded_again_at_the_same_place(script, editing):
    opened = editing(lambda: script.write_text(PROGRAM.replace("3.0", "5.0").replace("\nx =", "\n\n\nx =")))
    async with stepper(recorded(script), origin=Origin(str(script))).run_test(size=SMALL) as pilot:
        await pilot.press("g", "b", "enter")
        assert bar(pilot.app) == "step 2 of 4"
        await pilot.press("e")
        assert opened == [["+5", str(script)]]
        await settle(pilot, lambda: "Recorded again, at the same place" in notices(pilot.app))
        assert bar(pilot.app) == "step 2 of 4"
        assert "22026" in row(pilot.app, 2)
        await pilot.press("2")
        assert "a = x * 5.0" in shown(pilot.app, "#source")


async def test_nothing_is_recorded_where_nothing_was_changed(script, editing):
    editing(lambda: None)
    async with stepper(recorded(script), origin=Origin(str(script))).run_test(size=SMALL) as pilot:
        await pilot.press("e")
        await pilot.app.workers.wait_for_complete()
        assert notices(pilot.app) == ""
        assert not pilot.app.screen.query_one("#banner").display


async def test_a_program_that_fails_now_leaves_the_old_recording_and_a_banner_that_says_so(script, editing):
    editing(lambda: script.write_text(PROGRAM.replace("b = a.exp()", "b = nope")))
    async with stepper(recorded(script), origin=Origin(str(script))).run_test(size=LARGE) as pilot:
        await pilot.press("right", "e")
        banner = pilot.app.screen.query_one("#banner")
        await settle(pilot, lambda: "failed" in shown(pilot.app, "#banner"))
        assert "program.py:5 failed: NameError: name 'nope' is not defined" in shown(pilot.app, "#banner")
        assert "You still see the previous recording" in shown(pilot.app, "#banner")
        assert bar(pilot.app) == "step 1 of 4"
        await pilot.press("escape")
        assert not banner.display


async def test_a_recording_has_no_program_to_run_again(script, editing):
    tape = script.with_name("run.tape")
    recording = recorded(script)
    editing(lambda: script.write_text(PROGRAM + "\n# more\n"))
    async with stepper(recording, origin=Origin(str(tape))).run_test(size=SMALL) as pilot:
        await pilot.press("e")
        assert "You opened a recording file, which stays unchanged" in notices(pilot.app)
        script.unlink()
        await pilot.press("e")
        assert "This is a recording; its program is not in the same folder" in notices(pilot.app)


async def test_without_a_terminal_of_its_own_it_names_the_line(script, monkeypatch):
    monkeypatch.setenv("EDITOR", "vim")
    async with stepper(recorded(script), origin=Origin(str(script))).run_test(size=SMALL) as pilot:
        await pilot.press("e")
        assert "program.py:7" in notices(pilot.app)


# Following


async def test_watching_records_again_by_itself_until_the_program_is_right_again(script):
    async with stepper(recorded(script), origin=Origin(str(script)), watches=True).run_test(size=LARGE) as pilot:
        await pilot.press("g", "b", "enter")
        script.write_text(PROGRAM.replace("b = a.exp()", "b = a.exp("))
        await settle(pilot, lambda: "SyntaxError" in shown(pilot.app, "#banner"))
        assert bar(pilot.app) == "step 2 of 4"
        script.write_text(PROGRAM.replace("b = a.exp()", "b = a.sin()"))
        await settle(pilot, lambda: not pilot.app.screen.query_one("#banner").display)
        await settle(pilot, lambda: "sin" in sentence(pilot.app) or "sin" in shown(pilot.app, "#node"))
        assert bar(pilot.app) == "step 2 of 4"


async def test_a_program_that_never_ends_is_stopped_by_escape(script):
    async with stepper(recorded(script), origin=Origin(str(script)), watches=True).run_test(size=LARGE) as pilot:
        script.write_text("while True:\n    pass\n")
        await settle(pilot, lambda: "Recording program.py again: 1 s   Esc stops it" in shown(pilot.app, "#banner"))
        await pilot.press("escape")
        await settle(pilot, lambda: "killed" in shown(pilot.app, "#banner"))
        assert bar(pilot.app) == "step 0 of 4"


async def test_escape_stops_it_also_before_it_has_begun(script):
    async with stepper(recorded(script), origin=Origin(str(script)), watches=True).run_test(size=LARGE) as pilot:
        script.write_text("while True:\n    pass\n")
        await settle(pilot, lambda: "Recording program.py again ..." in shown(pilot.app, "#banner"))
        await pilot.press("escape")
        await settle(pilot, lambda: "killed" in shown(pilot.app, "#banner"))
