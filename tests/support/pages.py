"""Checks of the README and of the pages in docs/: their programs, commands, links and names of files."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from _pytest.mark.structures import ParameterSet

from tests.support.rendering import needs_graphviz
from tui.commands.cli import main

ROOT = Path(__file__).parents[2]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
FOLDERS = "microtape|viz|tui|lessons|docs|tests|benchmarks"
OUTPUT = re.compile(r"print\(.*\)(?:  | *\n\s+)# (.*)")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks in a language, including those that are indented in a list."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return ["".join(line.removeprefix(indent) for line in code.splitlines(True)) for indent, code in found]


def needs_torch(program: str) -> bool:
    """Whether a program imports PyTorch."""
    return re.search(r"^(?:import|from) torch\b", program, re.MULTILINE) is not None


def with_changes(text: str) -> str:
    """The last program of a text, with the changes of the `diff` blocks that follow it."""
    programs = blocks(text, "python")
    if not programs:
        return ""
    program = programs[-1]
    for change in blocks(text[text.rindex(program) :], "diff"):
        before, after = ("".join(re.findall(rf"^[{sign}](.*\n)", change, re.MULTILINE)) for sign in "-+")
        assert program.count(before) == 1, before
        program = program.replace(before, after)
    return program


def last_line(program: str) -> str:
    """The id of a program's test: the last line of the program."""
    return program.strip().splitlines()[-1][:40]


def check_program(program: str, folder: Path) -> None:
    """A program runs, and prints what its comments say; in a file, so that source lines can be found."""
    file = folder / "example.py"
    file.write_text(program, encoding="utf-8")
    expected = OUTPUT.findall(program)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, str(file), "exec"), {"__name__": "__main__"})
    assert output.getvalue().splitlines()[: len(expected)] == expected


class Scene(NamedTuple):
    """A command that a page shows with its output."""

    program: str  # the last program that the page shows before it, with the changes that it shows
    words: list[str]
    shown: str  # a line of `...` stands for any lines

    def check(self, folder: Path, run: Callable[[list[str]], str]) -> None:
        """What the command prints is what the page shows, whether its file is one of ours or the page's program."""
        file = next(word for word in self.words if word.endswith(".py"))
        at = ROOT if (ROOT / file).exists() else folder
        if at == folder:
            (folder / file).write_text(self.program, encoding="utf-8")
        with contextlib.chdir(at):
            printed = run(self.words[1:])
        self.compare(printed)

    def compare(self, printed: str) -> None:
        """What was printed is what the page shows."""
        parts = re.split(r"^\.\.\.(?:\n|$)", self.shown.strip("\n"), flags=re.MULTILINE)
        assert re.fullmatch(r"(?:.*\n)?".join(map(re.escape, parts)) + r"\n*", printed, re.DOTALL), printed


def scenes(text: str) -> list[Scene]:
    """Every console block, which is a command and its output, 100 columns wide."""
    found = []
    for block in blocks(text, "console"):
        prompt, _, shown = block.partition("\n")
        found.append(Scene(with_changes(text[: text.index(block)]), shlex.split(prompt.removeprefix("$ ")), shown))
    return found


def with_marks(id: str, program: str, tested: object) -> ParameterSet:
    """A parameter of a test of a program, or of what is said of it; only the parity tests run programs on PyTorch."""
    marks = [pytest.mark.parity] if needs_torch(program) else []
    if "viz.film(" in program:
        marks.append(needs_graphviz)
    return pytest.param(tested, id=id, marks=marks)


def programs(text: str) -> list[ParameterSet]:
    """The programs of a page, as parameters of a test."""
    return [with_marks(last_line(one), one, one) for one in blocks(text, "python")]


def shown(text: str) -> list[ParameterSet]:
    """The scenes of a page, as parameters of a test."""
    return [with_marks(" ".join(one.words), one.program, one) for one in scenes(text)]


def commands(text: str) -> Iterator[list[str]]:
    """Every command in the shell blocks, in words."""
    for block in blocks(text, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            while "&&" in words:
                yield words[: words.index("&&")]
                words = words[words.index("&&") + 1 :]
            if words:
                yield words


def check_command(words: list[str]) -> None:
    """The program that a command runs exists, and so do the options, files and extras that the command names."""
    program, *arguments = words
    program = program.removeprefix(".venv/bin/")
    if program.startswith(".ci/"):
        assert (ROOT / program).is_file(), words
    elif program == "microtape":
        check_microtape(arguments)
    elif program == "cp":
        assert (ROOT / arguments[-2]).exists(), words
    elif program == "pip":
        for extra in re.findall(r"\w+", "".join(re.findall(r"\[(.*?)\]", " ".join(arguments)))):
            assert extra in EXTRAS, words
    elif program in ("python", "python3"):
        check_python(arguments)
    else:
        assert is_required(program), f"{words}: no test knows {program}"


def check_microtape(arguments: list[str]) -> None:
    """A command of ours exists and knows its options."""
    said = help_of(arguments[0])
    for option in arguments[1:]:
        assert not option.startswith("--") or option in said, arguments


def check_python(arguments: list[str]) -> None:
    """The module or script exists, and so do the repository's files among its arguments."""
    first, *rest = arguments
    if first == "-m":
        module, *rest = rest
        assert find_spec(module) or is_required(module), arguments
    else:
        rest = arguments
    for argument in rest:
        if re.match(rf"({FOLDERS})/", argument):
            assert (ROOT / argument).exists(), arguments


def is_required(package: str) -> bool:
    """Whether one of our extras brings a package."""
    return any(re.match(rf"{package}\b", requirement) for extra in EXTRAS.values() for requirement in extra)


def help_of(command: str) -> str:
    """What `microtape COMMAND --help` prints. Fails if there is no such command."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            code: object = main([command, "--help"])
        except SystemExit as stop:
            code = stop.code
    assert code == 0, command
    assert command in output.getvalue()
    return output.getvalue()


def check_links(page: Path) -> None:
    """Every relative link leads to a file, and to a heading of it; Sphinx checks those to pages that it generates."""
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", prose(text)):
        if target.startswith("generated/"):
            continue
        path = (page.parent / target) if target else page
        assert path.exists(), target
        if anchor:
            assert anchor in map(slug, headings(path.read_text(encoding="utf-8"))), f"{target}#{anchor}"


def check_names(text: str) -> None:
    """Every file and folder of ours that a page names exists; a name that it says is `in` a file is defined there."""
    for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", prose(text)):
        assert (ROOT / name).exists(), name
    for name, file in re.findall(r"`([\w.]+)`\s+in\s+`([\w/]+\.py)`", prose(text)):
        *_, last = name.split(".")
        defined = rf"^ *(def|class) {last}\b|^ *{last}\b.* = "
        assert re.search(defined, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), f"{name} in {file}"


def prose(text: str) -> str:
    """A page without its code blocks."""
    return re.sub(r"^( *)```.*?^\1```", "", text, flags=re.DOTALL | re.MULTILINE)


def headings(text: str) -> list[str]:
    """The headings of a page."""
    return re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)


def slug(heading: str) -> str:
    """The anchor of a heading in links."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
