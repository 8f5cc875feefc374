"""Graphviz in a child process: its limits, and what happens if it is missing."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

import viz
from tests.support.recordings.handmade import chain, diamond
from tests.support.rendering import needs_graphviz
from viz.output import graphviz_api, render
from viz.output.render import _run

SLOW = (
    "digraph { "
    + " ".join(f"n{i} -> n{(i * 37 + 11) % 2000}; n{i} -> n{(i * 91 + 5) % 2000};" for i in range(2000))
    + " }"
)


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@needs_graphviz
def test_svg_png_and_pdf_come_out_of_the_child() -> None:
    drawing = viz.draw(diamond(), step=2)
    assert ElementTree.fromstring(drawing.svg()).tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing.pdf().startswith(b"%PDF")
    small, large = size(drawing.png(scale=1)), size(drawing.png(scale=3))
    assert large[0] == pytest.approx(3 * small[0], abs=3)


@needs_graphviz
def test_the_same_picture_twice_is_the_same_bytes() -> None:
    assert viz.draw(diamond()).svg() == viz.draw(diamond()).svg()


@needs_graphviz
def test_an_unrolled_network_of_300_nodes_takes_a_moment() -> None:
    svg = viz.draw(chain(290), fold=False, time_limit=60).svg()  # a third of a second; raw dot: minutes
    assert svg.count("<g ") > 290


@needs_graphviz
def test_the_time_limit_ends_graphviz() -> None:
    start = time.perf_counter()
    with pytest.raises(viz.GraphvizError) as caught:
        render.render(SLOW, "svg", time_limit=0.5)
    assert time.perf_counter() - start < 40  # the whole of it takes minutes
    assert str(caught.value) == (
        "Graphviz was stopped after 0.5 seconds: draw less with around=, show less with show=, "
        "or give it more time with time_limit="
    )


@needs_graphviz
def test_the_waiting_callback_gets_the_seconds() -> None:
    told: list[tuple[float, float]] = []
    with pytest.raises(viz.GraphvizError, match=r"stopped after 1 seconds"):
        render.render(SLOW, "svg", time_limit=1, waiting=lambda elapsed, limit: told.append((elapsed, limit)))
    assert told
    assert all(elapsed > 0 and limit == 1 for elapsed, limit in told)
    assert told == sorted(told)


def test_a_child_that_is_slow_to_start_still_gets_a_long_text() -> None:
    slow = "import sys, time; time.sleep(0.6); sys.stdout.write(sys.stdin.read())"
    done = _run([sys.executable, "-c", slow], "x" * 300_000, 20.0, lambda elapsed, limit: None)
    assert done is not None
    assert len(done.stdout) == 300_000


@needs_graphviz
def test_an_interrupted_wait_leaves_no_process_behind() -> None:
    def enough(elapsed: float, limit: float) -> None:
        raise KeyboardInterrupt

    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        render.render(SLOW, "svg", waiting=enough)
    assert time.perf_counter() - start < 40  # the whole of it takes minutes


@pytest.mark.skipif(os.name == "nt", reason="there are no signals")
def test_a_child_that_crashes_gives_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crashing))
    with pytest.raises(viz.GraphvizError, match=r"^Graphviz was killed by SIGSEGV: perhaps memory ran out$"):
        render.render("digraph { a }", "svg")


@needs_graphviz
def test_graphviz_messages_stay_off_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    render.render("digraph { a [shape=nonesuch] }", "svg")
    with pytest.raises(viz.GraphvizError) as caught:
        render.render("digraph { a -> ", "svg")
    assert str(caught.value).startswith("Graphviz failed with exit code 4: ")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@needs_graphviz
def test_modules_in_the_working_directory_are_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("viz", "graphviz", "pygraphviz", "subprocess", "graphviz_api", "encodings"):
        (tmp_path / f"{name}.py").write_text("open('was-run', 'w')\nraise SystemExit('hostile module was imported')\n")
    dot = tmp_path / "dot"
    dot.write_text("#!/bin/sh\ntouch was-run\n")
    dot.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.setenv("PATH", f".{':'}")
    assert viz.draw(diamond()).svg().rstrip().endswith("</svg>")
    without_pygraphviz(monkeypatch)
    with pytest.raises(viz.GraphvizError, match="Graphviz is not installed"):
        viz.draw(diamond()).svg()
    assert not (tmp_path / "was-run").exists()


def without_pygraphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the child find no pygraphviz: `-S` keeps site-packages off its path."""
    start = subprocess.Popen

    def bare(command: list[str], **options: object) -> object:
        if command[0] == sys.executable:
            command = [command[0], "-S", *command[1:]]
        return start(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", bare)


@pytest.mark.skipif(
    not os.environ.get("MICROTAPE_NO_SKIP") and shutil.which("dot") is None, reason="there is no system dot here"
)
def test_without_pygraphviz_the_system_dot_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pygraphviz(monkeypatch)
    drawing = viz.draw(diamond())
    texts = ElementTree.fromstring(drawing.svg()).iter("{http://www.w3.org/2000/svg}text")
    assert "z = mul(%2, %3)" in ["".join(text.itertext()) for text in texts]
    assert size(drawing.png(scale=1))[0] > 100


def test_without_either_dot_and_text_work_and_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without_pygraphviz(monkeypatch)
    monkeypatch.setenv("PATH", "")
    drawing = viz.draw(diamond())
    with pytest.raises(viz.GraphvizError) as caught:
        drawing.svg()
    assert "pip install pygraphviz" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert drawing.dot.startswith("digraph")
    assert "z = mul(%2, %3)" in drawing.text()
    bundle = drawing._repr_mimebundle_()
    assert bundle.keys() == {"text/plain"}
    assert "pip install pygraphviz" in bundle["text/plain"]


def test_an_interpreter_that_cannot_be_started_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(viz.GraphvizError, match="Graphviz is not installed"):
        viz.draw(diamond()).png()


@needs_graphviz
def test_a_png_too_large_for_its_format_says_so() -> None:
    tall = "digraph { " + " ".join(f"n{i} -> n{i + 1};" for i in range(300)) + " }"
    with pytest.raises(viz.GraphvizError, match=r"too large for png: take a smaller scale=, or save it as \.svg"):
        render.render(tall, "png", scale=2)
    assert size(render.render(tall, "png", scale=0.5))[1] > 5000


@pytest.mark.parametrize("scale", [0, -1, 1e9, float("nan")])
def test_an_invalid_scale_is_refused(scale: float) -> None:
    with pytest.raises(viz.GraphvizError, match="is not valid: give a number above 0, up to 20"):
        viz.draw(diamond()).png(scale=scale)


@needs_graphviz
def test_the_child_imports_nothing_of_ours() -> None:
    done = subprocess.run(
        [sys.executable, "-P", graphviz_api.__file__, "svg", "72"],
        input=b"digraph { a }",
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert b"</svg>" in done.stdout
    lines = Path(graphviz_api.__file__).read_text().splitlines()
    imported = [line for line in lines if line.startswith(("import", "from"))]
    assert not [line for line in imported if "viz" in line or "microtape" in line]
