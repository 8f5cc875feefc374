"""Names that are imported later behave like names that are there."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("package", ["viz", "lessons", "microtape.recording", "microtape.recording.findings"])
def test_every_public_name_is_listed_and_found(package):
    program = f"import {package} as p; assert set(p.__all__) <= set(dir(p)); print([getattr(p, n) for n in p.__all__])"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("package", "name", "home"),
    [
        ("viz", "draw", "viz.drawing"),
        ("lessons", "check", "lessons.checking.verdict"),
        ("microtape.recording", "record", "microtape.recording.engines"),
    ],
)
def test_a_name_is_imported_when_it_is_asked_for(package, name, home):
    program = f"import sys, {package}; print({home!r} in sys.modules); from {package} import {name}; "
    program += f"print({home!r} in sys.modules, vars(sys.modules[{package!r}])[{name!r}].__module__)"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True)
    assert ended.stdout.split() == ["False", "True", home]


def test_a_name_that_is_not_there_is_an_attribute_error():
    import viz

    with pytest.raises(AttributeError, match=r"^module 'viz' has no attribute 'drew'$"):
        _ = viz.drew
    with pytest.raises(ImportError, match="drew"):
        from viz import drew  # noqa: F401
