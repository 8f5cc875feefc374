"""`microtape demo`: recordings that come with the program, and are those of the examples as they are now."""

import pytest

from microtape import load
from tui.shell.demos import EXAMPLES, RECORDINGS, make, names, recording_of
from tui.words.trace_json import as_json

STALE = "the examples or the recorder have changed: run `python -m tui.shell.demos`"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    make(folder)
    return folder


def test_every_example_has_its_recording():
    assert [path.stem for path in sorted(RECORDINGS.glob("*.tape"))] == names(), STALE


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
