"""Recording again, without a screen and without a program."""

import pytest

from microtape.errors import RecordingError
from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.shell.opening import Origin
from tui.stepper.parts.later_passes import LaterPasses
from tui.stepper.parts.rerecorder import KEPT, Rerecorder, _last_words


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A stepper that watches its program, which fails whenever it is recorded again."""
    recording = handmade.diamond()
    (file, text), *_ = recording.sources.items()
    path = tmp_path / file
    path.write_text(text)

    def fails(self, out, *arguments, **options):
        raise RecordingError("it failed")

    monkeypatch.setattr(Origin, "record", fails)
    monkeypatch.setattr(Origin, "source", lambda self, name: tmp_path / name)
    stepper = FakeStepper(recording)
    rerecorder = Rerecorder(stepper, Origin(str(path)), LaterPasses(stepper), watches=True)
    rerecorder.mounted()
    yield stepper, path
    rerecorder.unmounted()


def look(stepper):
    """Look at the files, and if that starts the program, wait for its end."""
    count = len(stepper.timers)
    stepper.timers[0].callback()
    for timer in stepper.timers[count:]:
        while timer.is_running:
            timer.callback()


def test_what_has_not_changed_is_not_recorded(made):
    stepper, path = made
    look(stepper)
    path.write_text(path.read_text().rstrip("\n"))
    look(stepper)
    assert stepper.banner == "", "how the last line ends changes no program"


def test_what_has_changed_is_recorded_once(made):
    stepper, path = made
    path.write_text("changed")
    look(stepper)
    assert stepper.banner == f"it failed   {KEPT}"
    stepper.banner = ""
    look(stepper)
    assert stepper.banner == "", "it has been tried"
    path.write_text("changed again")
    look(stepper)
    assert stepper.banner


def test_a_file_that_is_gone_for_a_moment_is_waited_for(made):
    stepper, path = made
    path.unlink()
    look(stepper)
    assert stepper.banner == ""


def test_where_nothing_runs_stopping_takes_the_banner_away():
    stepper = FakeStepper(handmade.diamond())
    stepper.banner = "it failed"
    Rerecorder(stepper, None, LaterPasses(stepper)).stop()
    assert stepper.banner == ""


def test_without_a_program_there_is_no_line_to_edit():
    stepper = FakeStepper(handmade.diamond())
    Rerecorder(stepper, None, LaterPasses(stepper)).edit()
    assert stepper.notices == ["There is no line of source here."]


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ('  File "/a/train.py", line 7, in <module>\nNameError: no y\n', "train.py:7 failed: NameError: no y"),
        ("ValueError\n", "p.py failed: ValueError"),
        ("all is well\n", ""),
        ("", ""),
    ],
)
def test_a_programs_last_words(printed, words):
    assert _last_words("p.py", printed.splitlines()) == words
