"""`microtape draw` and `microtape film`, as typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import microtape as mt
import viz
from tests.support.recordings.handmade import chain, diamond, failing
from tests.support.rendering import needs_graphviz
from tui.commands.cli import main
from tui.commands.picture_options import as_typed
from tui.shell.exits import Exit
from viz.output.render import INSTALL


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    mt.save(diamond(), "diamond.tape")
    mt.save(chain(80), "chain.tape")
    mt.save(failing(), "failing.tape")
    return tmp_path


def dot(*arguments: str) -> str:
    assert main(["draw", *arguments, "-o", "out.dot"]) == Exit.OK
    return Path("out.dot").read_text(encoding="utf-8")


def test_the_contents_of_a_drawing_can_be_chosen(here: Path) -> None:
    assert "line 5" not in dot("diamond.tape", "--show", "values,gradients")
    assert 'bgcolor="#15181d"' in dot("diamond.tape", "--theme", "dark")
    assert dot("diamond.tape", "--around", "z", "--radius", "1").count("\n    n") == 3


def test_the_inside_of_a_function_is_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("double.py").write_text(DOUBLE, encoding="utf-8")
    assert "mul(x, 2.0)" in dot("double.py", "--into", "z")
    assert main(["draw", "double.py", "--into", "x", "-o", "out.dot"]) == Exit.CANNOT_DRAW
    assert 'nothing of yours ran inside of %0 x: --into takes "z" (Double)' in capsys.readouterr().err


DOUBLE = """\
import microtape as mt

class Double(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

x = mt.tensor(1.0, requires_grad=True)
z = Double.apply(x)
z.backward()
"""


def test_folds_are_opened_by_name(here: Path) -> None:
    folded = dot("chain.tape")
    (name,) = set(re.findall(r"<B>(lines? [\d-]+)\[", folded)) or set(re.findall(r"<B>(lines? [\d-]+) ×", folded))
    opened = dot("chain.tape", "--open", f"{name}[0]", "--open-fold", f"{name}[-1]")
    assert f"{name}[0]" in opened
    assert len(dot("chain.tape", "--no-fold")) > len(opened)


def test_the_amount_of_detail_can_be_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "line 5" in dot("diamond.tape", "--detail", "debug")
    assert "line 5" not in dot("diamond.tape", "--detail", "lecture")
    assert main(["draw", "diamond.tape", "--detail", "brief", "--show", "values", "-o", "out.dot"]) == Exit.CANNOT_DRAW
    assert "--show and --detail both say what to show: leave one of them out" in capsys.readouterr().err


@needs_graphviz
def test_a_picture_fits_into_a_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert " size=" not in dot("diamond.tape")
    assert " size=" in dot("diamond.tape", "--fit", "slide")
    assert "pixels high" not in capsys.readouterr().err
    dot("diamond.tape", "--fit", "150x100")
    said = capsys.readouterr().err
    assert re.search(
        r"the smallest text is [\d.]+ pixels high at 150x100, and 12 can be read: draw a part with --a", said
    )
    assert main(["film", "diamond.tape", "--fit", "150x100", "--detail", "brief", "-o", "out.gif"]) == Exit.OK
    assert "pixels high at 150x100" in capsys.readouterr().err
    assert main(["draw", "diamond.tape", "--fit", "poster", "-o", "out.dot"]) == Exit.CANNOT_DRAW
    assert "--fit 'poster' is not valid: it takes slide, a4, column, or (width, height)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("draw -o nowhere/a.dot", "cannot write 'nowhere/a.dot': there is no folder"),
        ("film -o nowhere/a.html", "cannot write 'nowhere/a.html': there is no folder"),
        ("draw -o a.bmp", "cannot tell the format of 'a.bmp'"),
        ("draw -o a.dot --theme neon", "there is no theme 'neon': --theme takes"),
        ("film -o a.html --theme neon", "there is no theme 'neon': --theme takes"),
        ("draw -o a.dot --show everything", "there is no detail everything: --show takes"),
        ("draw -o a.dot --fit poster", "--fit 'poster' is not valid"),
        ("film -o a.html --fit slide", "--fit is for a .gif"),
        ("film -o a.gif --seconds 90", "--seconds 90 is not valid"),
        pytest.param("draw -o a.png --scale 0", "--scale 0 is not valid", marks=needs_graphviz),
    ],
)
def test_what_could_not_be_written_is_refused_before_the_program_runs(
    here: Path, capsys: pytest.CaptureFixture[str], asked: str, message: str
) -> None:
    Path("train.py").write_text("open('ran', 'w')", encoding="utf-8")
    command, *options = asked.split()
    assert main([command, "train.py", *options]) == Exit.CANNOT_DRAW
    assert message in capsys.readouterr().err
    assert not Path("ran").exists()


def test_without_graphviz_a_picture_is_refused_before_the_program_runs(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*arguments: object, **options: object) -> bytes:
        raise viz.GraphvizError(INSTALL)

    monkeypatch.setattr("viz.drawing.render", missing)
    Path("train.py").write_text("open('ran', 'w')", encoding="utf-8")
    assert main(["draw", "train.py", "-o", "a.svg"]) == Exit.CANNOT_DRAW
    assert "Graphviz is not installed" in capsys.readouterr().err
    assert not Path("ran").exists()
    assert main(["draw", "train.py", "-o", "a.dot"]) != Exit.CANNOT_DRAW, "which needs none"


@needs_graphviz
def test_a_png_is_as_large_as_it_is_asked_to_be(here: Path) -> None:
    sizes = []
    for scale in ("1", "2"):
        assert main(["draw", "diamond.tape", "-o", "a.png", "--scale", scale]) == Exit.OK
        sizes.append(int.from_bytes(Path("a.png").read_bytes()[16:20], "big"))
    assert sizes[1] == pytest.approx(2 * sizes[0], abs=2)


@needs_graphviz
def test_a_film_is_written(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["film", "diamond.tape", "-o", "run.html"]) == Exit.OK
    assert Path("run.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(r"microtape: wrote run\.html \(\d+ kB\)\n", err)


@needs_graphviz
def test_a_script_can_be_filmed_with_options_on_either_side(here: Path) -> None:
    Path("script.py").write_text(
        "import sys, microtape as mt\nassert sys.argv[1:] == ['7']\n"
        "x = mt.tensor(2.0, requires_grad=True)\n(x * x).backward()\n"
    )
    assert main(["film", "--no-fold", "script.py", "7", "-o", "run.html"]) == Exit.OK
    assert main(["film", "script.py", "7", "--no-fold", "-o", "run.html", "--theme", "dark"]) == Exit.OK
    assert 'data-theme="dark"' in Path("run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["film", "diamond.tape"], Exit.BAD_INPUT, "film needs -o with the name of the page, such as -o run.html"),
        (["film", "diamond.tape", "-o", "a.mp4"], Exit.CANNOT_DRAW, "the name of a film should end in .html or .gif"),
        (["film", "missing.tape", "-o", "a.html"], Exit.BAD_INPUT, "missing.tape"),
        (["film", "diamond.tape", "-o", "a.html", "--pass", "2"], Exit.BAD_INPUT, "no pass 2 in this recording"),
        (["draw", "chain.tape", "-o", "a.svg", "--open-fold", "q"], Exit.CANNOT_DRAW, "there is no fold called 'q'"),
        (["draw", "diamond.tape", "-o", "a.svg", "--around", "q"], Exit.CANNOT_DRAW, 'take an id as in --around "%4"'),
        (["draw", "diamond.tape", "-o", "a.svg", "--theme", "x"], Exit.CANNOT_DRAW, "there is no theme 'x'"),
        (["draw", "diamond.tape", "-o", "a.svg", "--show", "x"], Exit.CANNOT_DRAW, "there is no detail x"),
        (["draw", "diamond.tape", "-o", "a.png", "--scale", "0"], Exit.CANNOT_DRAW, "--scale 0 is not valid"),
        (["draw", "diamond.tape", "-o", "a.svg", "--max-boxes", "3"], Exit.CANNOT_DRAW, "or raise --max-boxes"),
        (["draw", "diamond.tape", "-o", "a.svg", "--time-limit", "0"], Exit.CANNOT_DRAW, "--time-limit 0 is not valid"),
        (["film", "diamond.tape", "-o", "a.html", "--most-steps", "3"], Exit.CANNOT_DRAW, "limit is --most-steps 3)"),
        (["draw", "diamond.tape", "-o", "a.png", "--scale", "x"], Exit.BAD_INPUT, "invalid float value"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_clear_line(
    here: Path, arguments: list[str], code: Exit, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = set(here.iterdir())
    assert main(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert set(here.iterdir()) == before


@pytest.mark.parametrize("command", [["draw", "-o", "a.bmp"], ["film", "-o", "a.svg"]])
def test_a_script_does_not_run_for_a_picture_that_could_not_be_written(
    here: Path, capfd: pytest.CaptureFixture[str], command: list[str]
) -> None:
    Path("script.py").write_text("import pathlib\npathlib.Path('ran').touch()\n")
    assert main([command[0], "script.py", *command[1:]]) == Exit.CANNOT_DRAW
    assert "should end in" in capfd.readouterr().err
    assert not Path("ran").exists()


def test_messages_speak_of_the_options_of_the_command() -> None:
    assert as_typed('draw with around="loss", radius=3') == 'draw with --around "loss" --radius 3'
    assert as_typed("fold what repeats with fold=True, or") == "fold what repeats with --fold, or"
    assert as_typed('open one with open="line 3[0]"') == 'open one with --open "line 3[0]"'
    assert as_typed("fold=False, max_boxes=455 shows all 455 boxes") == "--no-fold --max-boxes 455 shows all 455 boxes"
    assert as_typed("depth=-1 is negative") == "--depth -1 is negative"
    assert (
        as_typed("less with show=, or more time with time_limit=") == "less with --show, or more time with --time-limit"
    )
    assert (
        as_typed("(the limit is max_boxes=300): raise max_boxes=")
        == "(the limit is --max-boxes 300): raise --max-boxes"
    )
    assert as_typed("x = 3 and y=4") == "x = 3 and y=4"


def test_the_pass_that_failed_is_drawn(here: Path) -> None:
    assert "RuntimeError" in dot("failing.tape")


@needs_graphviz
def test_a_part_of_a_pass_is_filmed(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["film", "diamond.tape", "--steps", "1:3", "-o", "part.html"]) == Exit.OK
    assert '"first":1,' in (here / "part.html").read_text()
    assert main(["film", "diamond.tape", "--steps", "3:1", "-o", "part.html"]) == Exit.CANNOT_DRAW
    assert "--steps 3:1 is not valid: the pass has" in capfd.readouterr().err


def test_each_chosen_pass_is_drawn_into_a_file_of_its_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("passes.py").write_text(
        "import microtape as mt\nx = mt.tensor(2.0, requires_grad=True)\n"
        "for factor in (1, 2, 3):\n    (x * factor).backward()\n",
        encoding="utf-8",
    )
    assert main(["draw", "passes.py", "--pass", "all", "-o", "graph.dot"]) == Exit.OK
    drawn = sorted(here.glob("graph*.dot"))
    assert [one.name for one in drawn] == ["graph.pass1.dot", "graph.pass2.dot", "graph.pass3.dot"]
    assert all(f"pass {number}" in one.read_text(encoding="utf-8") for number, one in enumerate(drawn, 1))
    main(["record", "passes.py", "--pass", "all", "-o", "passes.tape"])
    capsys.readouterr()
    assert "pass 1" in dot("passes.tape")
    assert "this is pass 1 of 3; --pass all draws each into a file" in capsys.readouterr().err


def test_advice_is_printed_and_not_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = dot("chain.tape")
    assert "nodes in" in drawn
    heading = drawn.partition("\n  n")[0]
    assert "open" not in heading
    assert re.search(r"to open a box, give its name: --open \"line", capsys.readouterr().err)
    Path("one.py").write_text(DOUBLE + "z = x * 2\nz.backward()\n", encoding="utf-8")
    assert "--pass" not in dot("one.py")
    assert "stopped after the passes that were asked for; --pass all runs it to its end" in capsys.readouterr().err
    x = mt.ones(30, requires_grad=True)
    mt.save(mt.record((x * x).sum().backward), "long.tape", element_budget=10)
    assert "keeps all" not in dot("long.tape")
    assert "saved as a summary (--keep 30 keeps all)" in capsys.readouterr().err


@needs_graphviz
def test_a_title_is_the_first_line(here: Path) -> None:
    drawn = dot("diamond.tape", "--title", "How <gradients> add up")
    assert "How &lt;gradients&gt; add up" in drawn
    assert "backward() at" not in drawn.partition("legend")[0].partition("<TR>")[2][:200]
    assert main(["film", "diamond.tape", "--title", "How gradients add up", "-o", "run.html"]) == Exit.OK
    page = Path("run.html").read_text(encoding="utf-8")
    assert "<title>How gradients add up" in page
