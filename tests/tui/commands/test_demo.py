"""`microtape demo`: recordings that come with the program, and are those of the examples as they are now."""

import re

import pytest

from microtape import load
from tests.support.pages import ROOT, blocks
from tui.commands.cli import main
from tui.shell.demos import EXAMPLES, FIRST, RECORDINGS, make, names, recording_of
from tui.words.trace_json import as_json

STALE = "the examples or the recorder have changed: run `python -m tui.shell.demos`"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    make(folder)
    return folder


def test_every_example_has_its_recording():
    assert sorted(path.stem for path in RECORDINGS.glob("*.tape")) == sorted(names()), STALE


def test_the_first_example_is_the_program_of_the_readme():
    program = (EXAMPLES / f"{FIRST}.py").read_text(encoding="utf-8")
    assert program in blocks((ROOT / "README.md").read_text(encoding="utf-8"), "python")


def test_without_a_name_the_first_example_opens(capfd):
    assert main(["demo"]) == 0
    assert capfd.readouterr().out.startswith(f"{FIRST}.py: ")


def test_the_menu_names_every_example_and_the_help_tells_what_each_is(capfd):
    assert main([]) == 0
    menu = " ".join(capfd.readouterr().out.split())
    assert f"a bundled program: {', '.join(names())}" in menu
    assert main(["demo", "--help"]) == 0
    lines = capfd.readouterr().out.splitlines()
    for name in names():
        assert any(re.fullmatch(rf"  {name} +[A-Z].+[.?]", line) for line in lines)


@pytest.mark.parametrize("name", names())
def test_the_recordings_are_those_of_the_examples_as_they_are_now(fresh, name):
    bundled, now = (as_json(load(path)) for path in (recording_of(name), fresh / f"{name}.tape"))
    assert bundled["sources"] == {f"{name}.py": (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")}, STALE
    assert near(bundled, now), STALE


def near(a, b):
    """Whether they are the same, up to the last digits of numbers, which differ between machines."""
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-3, abs=1e-6)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a if key != "sentence")
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b
