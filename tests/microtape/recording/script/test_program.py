"""Modules and folders of packages run as `python -m package.module` and `python folder` run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from microtape.errors import RecordingError
from microtape.recording.file.tape_file import load
from microtape.recording.script.program import find_program
from microtape.recording.script.run import record_script
from tui.commands.cli import main
from tui.shell.exits import Exit

SEES = """\
import sys
from {relative} import factor
print(sys.argv, sys.path[0], __name__, __package__, __file__, type(__loader__).__name__)
print(__spec__ and (__spec__.name, __spec__.parent, __spec__.origin), sys.modules["__main__"].__dict__ is globals())
"""
BACKWARD = """\
import microtape as mt
x = mt.tensor(2.0, requires_grad=True)
(x * factor.THREE).backward()
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a module, a `__main__` and a subpackage, in the current folder."""
    folder = tmp_path / "shop" / "inner"
    folder.mkdir(parents=True)
    for name, relative in (("shop/__main__.py", "shop"), ("shop/till.py", "."), ("shop/inner/deep.py", "..")):
        (tmp_path / name).write_text(SEES.format(relative=relative) + BACKWARD)
    (tmp_path / "shop" / "factor.py").write_text("THREE = 3.0\n")
    (tmp_path / "shop" / "__init__.py").write_text("print('the package')\n")
    (folder / "__init__.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_by_python(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("module", ["shop", "shop.till", "shop.inner.deep"])
def test_a_module_sees_what_it_sees_under_python(package: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    with open("output", "wb") as output:
        ended = record_script(module, ["a", "-b"], out="run.tape", is_module=True, output=output)
    assert ended.recording is not None
    assert Path("output").read_text() == run_by_python("-m", module, "a", "-b")
    recording = load("run.tape")
    assert recording.title == module
    assert [text.count("backward") for text in recording.sources.values()] == [1]
    (file,) = recording.sources
    assert (package / file).is_file(), "names are relative to the folder from which python imports"


@pytest.mark.parametrize("end", ["", os.sep])
def test_a_folder_sees_what_it_sees_under_python(package: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    (package / "shop" / "__main__.py").write_text(SEES.replace("from {relative} ", "") + BACKWARD)
    with open("output", "wb") as output:
        record_script("shop" + end, out="run.tape", output=output)
    ours, pythons = Path("output").read_text(), run_by_python("shop" + end)
    path = str(package / "shop")
    assert ours.replace(path + os.sep, path) == pythons.replace(path + os.sep, path)
    assert load("run.tape").title == "shop"


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("shop.tills", "there is no module shop.tills"),
        ("shop.till.more", "there is no module shop.till.more"),
        ("shop.inner", "shop.inner is a package without __main__.py"),
        ("shop..till", "there is no module shop."),
        ("zlib", "zlib is not a module of Python source|there is no module zlib"),
        ("", "there is no module"),
    ],
)
def test_what_is_no_module_is_said_in_one_line(package: Path, module: str, why: str) -> None:
    with pytest.raises(RecordingError, match=why) as refused:
        find_program(module, is_module=True)
    assert "\n" not in str(refused.value)


def test_an_error_in_a_package_shows_the_users_lines_alone(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (package / "shop" / "__init__.py").write_text("print('the package')\n1 / 0\n")
    ended = record_script("shop.till", out="run.tape", is_module=True)
    said = capfd.readouterr().err
    assert ended.exit_code == 1
    assert "shop/__init__.py" in said.replace(os.sep, "/")
    assert "main_program" not in said


def test_the_commands_take_a_module_with_dash_m(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (package / "shop" / "till.py").write_text("from . import factor\nprint(__import__('sys').argv[1:])\n" + BACKWARD)
    assert main(["record", "-m", "shop.till", "-m", "--", "--pass"]) == Exit.OK
    said = capfd.readouterr()
    assert "['-m', '--pass']" in said.out, "after the module, -m is the program's own"
    assert "shop.till.tape" in said.err
    assert main(["trace", "-m", "shop.till"]) == Exit.OK
    assert "shop/till.py:5" in capfd.readouterr().out


def test_the_command_that_shows_a_finding_of_a_module_has_dash_m(
    package: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (package / "shop" / "till.py").write_text(BACKWARD.replace("x * factor.THREE", "(x - 2).log()"))
    assert main(["diagnose", "-m", "shop.till"]) == Exit.FOUND
    assert "$ microtape step -m shop.till" in capfd.readouterr().out


@pytest.mark.parametrize("has_init", [True, False])
@pytest.mark.parametrize(("file", "module"), [("pk/train.py", "pk.train"), ("pk/sub/train.py", "pk.sub.train")])
def test_a_relative_import_in_a_script_names_the_module_that_works(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    file: str,
    module: str,
    has_init: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    dots = "." * module.count(".")
    (tmp_path / "pk" / "model.py").write_text("import microtape as mt\nw = mt.tensor(2.0, requires_grad=True)\n")
    path.write_text(f"from {dots}model import w\nw.exp().backward()\n")
    if has_init:
        for folder in [*path.parents][: module.count(".")]:
            (folder / "__init__.py").touch()
    assert record_script(file, out=tmp_path / "run.tape").exit_code == 1
    hint = f"microtape: train.py is part of a package: name it as a module, -m {module}\n"
    assert capfd.readouterr().err.endswith(hint)
    assert record_script(module, out=tmp_path / "run.tape", is_module=True).exit_code == 0
    monkeypatch.chdir(path.parent)
    record_script("train.py", out=tmp_path / "run.tape")
    assert capfd.readouterr().err.endswith(f"-m {module} in the folder {tmp_path}\n") == has_init


def test_a_folder_of_a_package_is_named_as_a_module_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").touch()
    (tmp_path / "pk" / "__main__.py").write_text("from . import nothing\n")
    record_script("pk", out=tmp_path / "run.tape")
    assert capfd.readouterr().err.endswith("microtape: pk is part of a package: name it as a module, -m pk\n")
