"""`microtape demo`: recordings that come with the program, and are those of the examples as they are now."""

import re

import pytest

from microtape import load
from tests.support.pages import ROOT, blocks
from tui.commands.cli import main
from tui.shell import demos
from tui.shell.demos import EXAMPLES, FIRST, RECORDINGS, file_of, make, names, needs_torch, recording_of
from tui.words.trace_json import as_json

STALE = "the examples or the recorder have changed: run `python -m tui.shell.demos`"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    make(folder, [name for name in names() if not needs_torch(name)])
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


@pytest.mark.parametrize("name", [name for name in names() if not needs_torch(name)])
def test_the_recordings_are_those_of_the_examples_as_they_are_now(fresh, name):
    check_up_to_date(name, fresh)


@pytest.mark.parity
@pytest.mark.parametrize("name", [name for name in names() if needs_torch(name)])
def test_so_are_those_of_programs_on_torch(tmp_path, name):
    make(tmp_path, [name])
    check_up_to_date(name, tmp_path)


def test_programs_on_torch_come_last_and_are_recorded_on_it():
    assert [needs_torch(name) for name in names()] == sorted(map(needs_torch, names()))
    assert [name for name in names() if needs_torch(name)] == ["convolution", "transformer"]
    for name in ("convolution", "transformer"):
        recording = load(recording_of(name))
        assert len(recording.passes[0].steps) == len(recording.passes[0].dependencies)
        assert {node.name for node in recording.nodes} > {"AccumulateGrad", "AddmmBackward0", "NllLossBackward0"}


def test_without_torch_their_recordings_are_kept_and_a_line_says_so(tmp_path, monkeypatch, capsys):
    kept = tmp_path / "transformer.tape"
    kept.write_bytes(recording_of("transformer").read_bytes())
    (tmp_path / "gone.tape").write_bytes(b"")
    monkeypatch.setattr(demos, "RECORDINGS", tmp_path)
    monkeypatch.setattr(demos, "find_spec", lambda name: None)
    monkeypatch.setattr(demos, "make", lambda chosen: None)
    assert demos.main() == 1
    assert list(tmp_path.iterdir()) == [kept]
    assert "not recorded again: convolution, transformer, which need PyTorch" in capsys.readouterr().out


def check_up_to_date(name, folder):
    bundled, now = (as_json(load(path)) for path in (recording_of(name), folder / f"{name}.tape"))
    assert bundled["sources"] == {f"{name}.py": file_of(name).read_text(encoding="utf-8")}, STALE
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
