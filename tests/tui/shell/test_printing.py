"""No text reaches the terminal raw: neither control characters nor what its encoding cannot hold."""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import os
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
import tui
from tui.commands.cli import main
from tui.shell.printing import LONGEST, at_words, put, put_json, safe

TUI = Path(tui.__file__).parent
EVIL = "evil\x1b]52;c;aGk=\x07\x9b31m\u202etitle\ud800"
WRITERS = {"stdout", "stderr", "__stdout__", "__stderr__"}
ALLOWED = {
    "shell/printing.py": 2,
    "shell/progress.py": 1,  # the progress bar's own signs; its texts are made safe
}


def raw_writes(source: str) -> list[int]:
    """The lines that print, or write to a standard stream, by themselves."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in ("print", "input"):
            found.append(node.lineno)
        if isinstance(called, ast.Attribute) and called.attr in ("write", "writelines"):
            on = called.value
            on = on.value if isinstance(on, ast.Attribute) and on.attr == "buffer" else on
            if (isinstance(on, ast.Attribute) and on.attr in WRITERS) or (
                isinstance(on, ast.Name) and on.id == "stream"
            ):
                found.append(node.lineno)
        if any(
            isinstance(one, ast.Attribute) and one.attr in WRITERS
            for one in (*node.args, *[k.value for k in node.keywords])
        ):
            found.append(node.lineno)  # json.dump(data, sys.stdout), print(..., file=sys.stderr)
    return found


def test_nothing_is_printed_but_through_the_one_place() -> None:
    assert raw_writes("print(1)\nsys.stdout.write(x)\njson.dump(x, sys.stdout)\nsys.stderr.buffer.write(x)") == [
        1,
        2,
        3,
        4,
    ]
    for path in sorted(TUI.rglob("*.py")):
        name = path.relative_to(TUI).as_posix()
        lines = raw_writes(path.read_text(encoding="utf-8"))
        if name == "shell/printing.py":
            text = path.read_text(encoding="utf-8").splitlines()
            assert all("_write(" in text[line - 1] or "stream.write(" in text[line - 1] for line in lines)
        else:
            assert len(lines) == ALLOWED.get(name, 0), f"{name}, line {lines}: print with tui.shell.printing"


@given(st.text(st.characters(), max_size=50))
def test_safe_text_has_no_control_character(text: str) -> None:
    shown = safe(text)
    assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown.replace("\n", ""))
    assert shown.count("\n") == text.count("\n")
    shown.encode("utf-8")


def test_a_long_line_is_cut_and_a_long_text_is_not() -> None:
    assert len(safe("x" * 1_000_000)) == LONGEST
    assert safe("\n" * 30_000) == "\n" * 30_000


def test_what_the_stream_cannot_encode_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    put("∂x é \ud800")
    stream.flush()
    assert stream.buffer.getvalue() == rb"\u2202x \xe9 \ud800" + b"\n"  # type: ignore[attr-defined]


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    put_json({"name": EVIL * 10_000})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"name": EVIL * 10_000}


@pytest.mark.parametrize(
    "command",
    ["trace FILE", "trace FILE --json", "trace FILE --step 1", "trace FILE --until nan",
     "draw FILE --until nan -o x.txt", "diagnose FILE", "diff FILE FILE", "trace FILE --pass 7", "step FILE"],
)  # fmt: skip
@pytest.mark.parametrize("title", [EVIL, EVIL * 40_000])
def test_a_title_is_not_obeyed(command: str, title: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    x = mt.ones(2, requires_grad=True)
    recording = mt.record((x * 2).sum().backward)
    path = tmp_path / "evil.tape"
    mt.save(dataclasses.replace(recording, title=title, notes=("note\x1b[31m\x07",)), path)
    main(command.replace("FILE", str(path)).split())
    printed = "".join(capfd.readouterr())
    assert not any(one in printed for one in "\x1b\x07\x9b\u202e")
    assert printed


@pytest.mark.parametrize("command", ["trace", "draw -o x.svg", "diagnose", "record", EVIL])
def test_the_name_of_a_missing_file_is_not_obeyed(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    name, *options = command.split()
    assert main([name, EVIL.replace("\ud800", "\udcff") + ".tape", *options]) != 0
    printed = "".join(capfd.readouterr())
    assert r"evil\x1b]52;c" in printed
    assert not any(one in printed for one in "\x1b\x07\x9b\u202e")


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        return 2


@given(st.lists(st.text("ab-./", min_size=1, max_size=30), min_size=1, max_size=20), st.integers(20, 120))
def test_a_line_for_a_terminal_is_broken_only_between_words(words, columns):
    size = os.terminal_size((columns, 24))
    with patch.object(sys, "stderr", Terminal()), patch.object(os, "get_terminal_size", lambda fd: size):
        lines = at_words(" ".join(words)).split("\n")
    assert [word for one in lines for word in one.split()] == words
    assert all(len(one) <= columns or " " not in one for one in lines)


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_a_line_for_a_file_stays_one_line(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    assert at_words("word " * 100) == "word " * 100
