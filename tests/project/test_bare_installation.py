"""With numpy alone, as after `pip install --no-deps`, the engine and its recorder work; commands say what they miss."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests.support.pages import ROOT
from tui.shell.exits import Exit
from tui.shell.packages import BROUGHT_BY

WITHOUT = """\
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {left_out!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, {root!r})
"""
ENGINE = """
import microtape as mt
with mt.record() as r:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
mt.save(r.recording, "run.tape")
print(len(mt.load("run.tape").passes), x.grad.tolist())
"""
COMMANDS = """
import contextlib, io, json
from tui.commands.cli import main
for words in {commands!r}:
    said, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
        code = main(words)
    print(json.dumps([words, code, said.getvalue()]))
"""
OTHERS = {"pygraphviz", "PIL", "pypdf", "textual_serve", "aiohttp", "jinja2", "aiohttp_jinja2", "torch", "IPython"}
WITHIN_REACH = (["--version"], ["--help"], ["record", "run.py", "-o", "run.tape"])
OUT_OF_REACH = (
    (["demo"], "textual"),
    (["step", "run.tape"], "textual"),
    (["trace", "run.tape"], "textual"),
    (["diff", "run.tape", "run.tape"], "textual"),
    (["keys"], "textual"),
    (["draw", "run.tape", "-o", "graph.svg"], "graphviz"),
    (["film", "run.tape", "-o", "run.html"], "graphviz"),
    (["learn", "list"], "platformdirs"),
    (["completion", "bash"], "shtab"),
    (["serve", "run.tape"], r"microtape\[serve\]"),
)


def run(program, folder, left_out):
    whole = WITHOUT.format(left_out=left_out, root=str(ROOT)) + program
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, cwd=folder)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_the_table_names_the_packages_that_pip_brings():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.match(r"[\w-]+", one)[0] for one in project["dependencies"]}
    assert set(BROUGHT_BY.values()) == required - {"numpy", "pygraphviz"}, (
        "a drawing says itself what pygraphviz is for"
    )


def test_numpy_alone_is_enough_for_the_engine_and_the_recorder(tmp_path):
    assert run(ENGINE, tmp_path, OTHERS | set(BROUGHT_BY)) == ["1 [2.0, 4.0]"]


def test_every_command_that_needs_more_names_the_package_in_one_line(tmp_path):
    (tmp_path / "run.py").write_text(ENGINE.replace("run.tape", "its.tape"))
    asked = [*WITHIN_REACH, *(words for words, _ in OUT_OF_REACH)]
    told = map(json.loads, run(COMMANDS.format(commands=asked), tmp_path, OTHERS | set(BROUGHT_BY)))
    answers = {tuple(words): (code, said) for words, code, said in told if isinstance(words, list)}
    for words in WITHIN_REACH:
        assert answers[tuple(words)][0] == Exit.OK, answers[tuple(words)]
    for words, package in OUT_OF_REACH:
        code, said = answers[tuple(words)]
        assert code in (Exit.BAD_INPUT, Exit.CANNOT_DRAW)
        assert said.count("\n") == 1, said
        assert re.match(rf"microtape: .*\b(package |pip install '?){package}\b|.*{package}", said), said


@pytest.mark.parametrize("name", ["textual", "rich.text"])
def test_a_module_of_somebody_elses_is_not_taken_for_a_package(name):
    from tui.shell.packages import what_is_missing

    assert what_is_missing(ModuleNotFoundError(name="torch"), "step") is None
    assert what_is_missing(ModuleNotFoundError(name=name), "step") == (
        "step needs the package textual, which is not installed: pip install textual"
    )
