"""DOT text: golden files, the same bytes every time, and any name shown exactly."""

from __future__ import annotations

import importlib
import itertools
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import microtape.ops
import viz
from microtape.recording.model.model import ErrorRecord, Recording
from microtape.tape.node import Node
from tests.support.recordings.handmade import diamond, failing
from tests.support.rendering import needs_graphviz
from viz.basics.characters import left_to_right, to_ascii, visible
from viz.basics.graph import STATE_GLYPHS
from viz.basics.theme import DARK, LIGHT, THEMES, Theme
from viz.output import graphviz_api
from viz.output.dot import to_dot
from viz.output.render import render
from viz.planning.display_names import NAME_WIDTH
from viz.planning.sparkline import BARS
from viz.scene.visual_graph import build_graph

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"


@pytest.mark.parametrize(
    ("name", "dot"),
    [
        ("diamond-step-2.dot", lambda: viz.draw(diamond(), step=2).dot),
        ("failing-dark.dot", lambda: viz.draw(failing(), theme="dark").dot),
    ],
)
def test_the_dot_text_is_the_golden_one(name: str, dot: object) -> None:
    """After an intended change, look at the new picture, then run this with UPDATE_GOLDEN=1."""
    assert callable(dot)
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(dot(), encoding="utf-8")
    assert dot() == path.read_text(encoding="utf-8")


def test_another_process_with_other_hashes_writes_the_same_bytes() -> None:
    program = "import sys, viz; from tests.support.recordings.handmade import failing; "
    program += "sys.stdout.buffer.write(viz.draw(failing()).dot.encode())"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2]), "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
    assert done.stdout.decode() == viz.draw(failing()).dot


def test_every_layer_is_one_rank() -> None:
    dot = viz.draw(diamond()).dot
    assert re.findall(r"\{ rank=same (.*) \}", dot) == ["n0; n1", "n2; n3", "n4", "s0"]


# --- names with a meaning in DOT or in HTML-like labels, or with none ------------------------------------------

HOSTILE = [
    '"', '\\', '\\\\"', "<b>bold</b>", "</TD></TR>", "&amp;", "&#65;", "\\N", "\\G\\l\\n", "]]>", "--><!--", "a -> b",
    "\x00", "\x1b[31m", "\ud800", "\ufffe", "\u202egnp.exe", "é", "e\u0301", "🎉", "👩‍👧", "שלום", "变量", "x" * 10_000,
    "'", "%", "{|}", ";", "#", "//", "/*", "line\nbreak", "\u2028", "tab\t", "", " ", "node", "digraph",
]  # fmt: skip


def named(name: str) -> Recording:
    """The diamond with that name as its first leaf, title, operation, file and source."""
    recording = diamond()
    nodes = tuple(
        one._replace(op=name, formula=name, name=name, hooks=(name,), place=one.place and one.place._replace(file=name))
        for one in recording.nodes
    )
    tensors = tuple(one._replace(names=(name,), hooks=(name,)) if one.id == 0 else one for one in recording.tensors)
    return replace(
        recording, title=name, nodes=nodes, tensors=tensors, sources={name: name * 9, "b": ""}, notes=(name,)
    )


def drawn(recording: Recording) -> str:
    """The SVG, from Graphviz in this process if possible, which is fast enough for a few hundred."""
    try:
        import pygraphviz
    except ImportError:
        return viz.draw(recording).svg()
    svg: bytes = pygraphviz.AGraph(string=viz.draw(recording).dot).draw(format="svg", prog="dot")
    return svg.decode("utf-8")


def shown(svg: str) -> list[str]:
    """The texts in the picture. Graphviz writes every other space of a run as a no-break space."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()).replace("\xa0", " ") for text in texts]


@needs_graphviz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=[]), max_size=40) | st.sampled_from(HOSTILE))
@example("x" * 10_000)
@example("\\")
@example("<b>")
@example('"\\N&lt;\x1b\ud800')
def test_any_name_gives_valid_xml_that_shows_it(name: str) -> None:
    texts = shown(drawn(named(name)))
    expected = left_to_right(visible(name, NAME_WIDTH)).replace("\xa0", " ") or "%0"
    assert expected in texts, (expected, texts[:8])


@needs_graphviz
def test_tooltips_show_exactly_their_text() -> None:
    svg = drawn(named("<b>\\N & \"q\" 'x'"))
    tooltips = [unescape(one) for one in re.findall(r'xlink:title="([^"]*)"', svg)]
    assert any("leaf <b>\\N & \"q\" 'x': float64 scalar" in one for one in tooltips)


@needs_graphviz
def test_an_error_message_can_be_anything() -> None:
    error = ErrorRecord("<T>", "\x1b[1m<b>\\N\n" * 500, (("sa\x00ved", diamond().nodes[2].place),), "")  # type: ignore[arg-type]
    recording = failing()
    steps = tuple(one._replace(error=error) if one.error else one for one in recording.passes[0].steps)
    recording = replace(recording, passes=(recording.passes[0]._replace(steps=steps, error=error),))
    assert "<T>" in shown(drawn(recording))


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("a\x1bb\x00\n", 20, "a\\x1bb\\x00\\n"),
        ("\ud800\ufffe\u202e\u2028", 40, "\\ud800\\ufffe\\u202e\\u2028"),
        ("naïve 🎉 变量 👩‍👧", 20, "naïve 🎉 变量 👩‍👧"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("\x00" * 10, 6, "\\x00\\…"),
    ],
)
def test_invisible_characters_are_written_out_and_long_texts_cut(text: str, limit: int, expected: str) -> None:
    assert visible(text, limit) == expected


def test_ascii_has_a_look_alike_for_every_sign_of_a_picture() -> None:
    signs = [*STATE_GLYPHS.values(), BARS, "✂ × …", *(node.formula or "" for node in nodes())]
    assert len(signs) > 200
    assert [sign for sign in signs if "\\" in to_ascii(sign)] == []


def nodes() -> Iterator[type[Node]]:
    """Every built-in operation, including those of modules that are imported lazily."""
    for module in pkgutil.walk_packages(microtape.ops.__path__, "microtape.ops."):
        importlib.import_module(module.name)
    classes: list[type[Node]] = [Node]
    for one in classes:
        classes += [each for each in one.__subclasses__() if each.__module__.startswith("microtape.")]
        yield one


def test_the_ascii_text_has_the_same_lines() -> None:
    text = to_ascii("▶ ✓ ✗ ○ – → 2×3 z = x · y ∂z/∂x … ± 变")
    assert text == "> * ! o - -> 2x3 z = x * y dz/dx ... +- \\u53d8"


# --- themes ------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_right_to_left_name_does_not_reorder_its_title() -> None:
    assert left_to_right("\u05d0\u05d1 = mul(\u05d2, x)") == "\u200e\u05d0\u05d1\u200e = mul(\u05d2\u200e, x)"
    assert left_to_right("x = mul(é, 2)") == "x = mul(é, 2)"


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_every_text_is_readable_on_every_fill(theme: Theme) -> None:
    """At least the Web Content Accessibility Guidelines' 4.5 to 1; 3 to 1 for lines that carry meaning."""
    for fill in (theme.background, theme.operation, theme.leaf, theme.recorded, theme.current, theme.failed):
        for ink in (theme.text, theme.muted, theme.gradient, theme.alarm):
            assert contrast(ink, fill) >= 4.5, (ink, fill)
    for line in (theme.line, theme.leaf_line, theme.recorded_line, theme.current_line, theme.alarm, theme.gradient):
        assert contrast(line, theme.background) >= 3, line


# The colours seen with one kind of cone missing, in linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
VISION = {
    "all three": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no medium": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def as_seen(colour: str, vision: str) -> np.ndarray:
    """The colour in CIELAB, where distances match perception."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    x, y, z = np.cbrt(np.maximum(xyz / np.array([0.9505, 1, 1.089]), 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
def test_every_kind_of_colour_vision_can_tell_the_colourblind_theme_apart(vision: str) -> None:
    theme = THEMES["colourblind"]
    lines = (theme.gradient, theme.alarm, theme.current_line, theme.leaf_line, theme.recorded_line)
    for one, other in itertools.combinations(lines, 2):
        distance = np.linalg.norm(as_seen(one, vision) - as_seen(other, vision))
        assert distance > 20, (one, other, distance)  # 2 is just noticeable


def test_meaning_is_never_in_colour_alone() -> None:
    """Without its colours, the picture still tells states, kinds and arrows apart."""

    def colourless(step: int) -> str:
        return re.sub(r"#[0-9a-f]{6}", "", to_dot(build_graph(diamond(), step=step, show={"values"}), LIGHT))

    assert len({colourless(step) for step in range(6)}) == 6


def test_the_picture_has_its_own_background() -> None:
    assert f'bgcolor="{DARK.background}"' in viz.draw(diamond(), theme="dark").dot
    with pytest.raises(viz.DrawError, match="there is no theme 'neon': theme= takes light, dark, colourblind"):
        viz.draw(diamond(), theme="neon")


@needs_graphviz
def test_a_long_quoted_string_does_not_break_graphviz() -> None:
    tooltip, label = graphviz_api.tooltip(["é<&\\" * 9000]), graphviz_api.plain("é" * 30_000)
    dot = f"digraph {{ a [{graphviz_api.attributes({'tooltip': tooltip, 'label': label})}] }}"
    ElementTree.fromstring(render(dot, "svg"))
