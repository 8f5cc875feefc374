"""`viz.film`: the contents of the page and of the GIF, and the page in a real browser."""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import microtape as mt
import viz
from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import PassTimeline
from tests.support.browser import PATIENCE, Browser, needs_browser
from tests.support.recordings.handmade import chain, diamond, failing, twice
from tests.support.rendering import needs_graphviz
from viz.basics.graph import SPACE, VisualGraph
from viz.basics.heat import heat
from viz.basics.options import Folding
from viz.basics.theme import LIGHT
from viz.films.fit_frames import fit_frames
from viz.films.fixed_layout import FixedLayout
from viz.scene.scene import make_scene
from viz.scene.visual_graph import picture, pictures

# --- pictures of one scene -------------------------------------------------------------------------------------------


def frames_of(recording: Recording) -> list[VisualGraph]:
    timeline = PassTimeline(recording)
    return FixedLayout(pictures(timeline, make_scene(timeline.at(), focus=False))).pictures()


def skeleton(graph: VisualGraph) -> object:
    """Everything that Graphviz lays out: of the texts only their lengths."""
    return (
        [(box.id, box.title, box.note, box.rank, box.clusters, [(len(row.key), len(row.text)) for row in box.rows],
          [[(len(row.key), len(row.text)) for row in port.rows] for port in box.ports]) for box in graph.boxes],
        [(one.tail, one.port, one.head, one.aside, one.written, len(one.text)) for one in graph.arrows],
        graph.legend,
    )  # fmt: skip


def double() -> Recording:
    with mt.record() as recorder:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        (slope,) = mt.autograd.grad((x**3).sum(), x, create_graph=True)
        (slope * slope).sum().backward()
    return recorder.recording


def nan() -> Recording:
    with mt.record() as recorder:
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        y = x
        for _ in range(60):
            y = y.sqrt()
        y.sum().backward()
    return recorder.recording


@pytest.mark.parametrize(
    "recording", [diamond(), failing(), double(), nan()], ids=["diamond", "failing", "double", "nan"]
)
def test_boxes_keep_their_places_during_a_film(recording: Recording) -> None:
    frames = frames_of(recording)
    assert all(skeleton(frame) == skeleton(frames[0]) for frame in frames)


def test_a_box_that_does_not_exist_yet_is_absent() -> None:
    first, *_, last = frames_of(double())
    made = [box.id for box in first.boxes if box.state == "absent"]
    assert made
    assert not [box for box in last.boxes if box.state == "absent"]
    assert {arrow.kind for arrow in first.arrows if arrow.head in made} == {"absent"}
    error = next(box for box in frames_of(failing())[0].boxes if box.id == "error")
    assert error.state == "absent"


def test_texts_are_padded_with_no_break_spaces() -> None:
    frames = frames_of(diamond())
    grads = [row.text for frame in frames for box in frame.boxes if box.id == "n0" for row in box.rows]
    assert "no gradient yet" in {text.rstrip(SPACE) for text in grads}
    assert not any(text.endswith(" ") for text in grads)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", [diamond, failing, double, nan, lambda: chain(80)])
def test_reused_boxes_equal_newly_built_ones(
    program: Callable[[], Recording],
) -> None:
    recording = program()
    for number in range(len(recording.passes)):
        timeline = PassTimeline(recording, number)
        for fold in (True, False):
            scene = make_scene(timeline.at(), folding=Folding(fold), focus=False)
            one_by_one = [picture(timeline.at(done), scene) for done in range(len(timeline.steps) + 1)]
            assert list(pictures(timeline, scene)) == one_by_one


# --- arrays as matrices ----------------------------------------------------------------------------------------------


def test_a_small_array_is_shown_number_by_number() -> None:
    assert heat(np.array([[1.0, -2.0], [np.nan, np.inf]])) == (((1.0, -2.0), ("nan", "inf")), True, 2.0)
    assert heat(np.array(3.0)) == (((3.0,),), True, 3.0)
    assert heat(np.array([1 / 3])).cells == ((0.3333,),)
    assert heat(np.zeros((2, 2, 2))).cells == ((0.0, 0.0),) * 4
    assert heat(np.array([3 + 4j])).cells == ((5.0,),)
    assert heat(np.array([True])).cells == ((1.0,),)


def test_the_largest_float_stays_finite() -> None:
    largest = np.finfo(np.float64).max
    assert heat(np.array([largest])).largest == largest


def test_a_large_or_an_empty_array_is_averaged_down() -> None:
    large = heat(np.ones((100, 100)))
    assert (large.exact, len(large.cells), large.largest) == (False, 8, 1.0)
    assert heat(np.zeros(0)) == ((), False, 0.0)


# --- the page --------------------------------------------------------------------------------------------------------


def scripts_of(html: str) -> dict[str, Any]:
    """The data in the page, by the ids of its elements."""
    found = re.findall(r'<script type="application/json" id="([^"]*)">(.*?)</script>', html, re.DOTALL)
    return {id: json.loads(text) for id, text in found}


def data_of(html: str) -> Any:
    return scripts_of(html)["film"]


@cache
def page_of_400() -> str:
    return viz.film(chain(400)).html


def said(html: str, chapter: int = 0) -> list[str]:
    """What the page says at each step."""
    parts = [part for id, part in scripts_of(html).items() if id.startswith(f"d{chapter}-")]
    return [one["say"] for part in parts for one in part["steps"]]


def at(history: list[Any], number: int) -> Any:
    """The change that holds in that picture."""
    return [change for change in history if change[0] <= number][-1]


@needs_graphviz
def test_a_film_has_a_picture_for_every_step() -> None:
    html = viz.film(diamond()).html
    (chapter,) = data_of(html)["chapters"]
    assert chapter["title"] == "diamond.py: backward() at line 6"
    assert chapter["count"] == 6
    assert [say.partition(":")[0] for say in said(html)] == [
        "before step 1 of 5", *(f"after step {k} of 5" for k in range(1, 6))
    ]  # fmt: skip
    assert [row["title"] for row in chapter["tape"]] == [
        "x",
        "y",
        "%2 = mul(x, y)",
        "%3 = add(x, y)",
        "z = mul(%2, %3)",
    ]
    assert at(chapter["tape"][2]["history"], 3)[1:] == ["current", "5"]
    assert at(chapter["boxes"]["n2"], 3)[1] == "current"
    assert chapter["nodes"] == {"4": 1, "3": 2, "2": 3, "1": 4, "0": 5}
    part = scripts_of(html)["d0-0"]
    detail = part["steps"][3]
    text = {k: value["text"] for k, value in enumerate(part["values"])}
    assert [text[value] for _, value in detail["in"]] == ["5"]
    assert [(to, text[term], text[before], text[total], left) for to, term, before, total, left in detail["out"]] == [
        ("x (%0)", "15", "6", "21", 0),
        ("y (%1)", "10", "6", "16", 0),
    ]
    assert [name for name, _, _ in detail["saved"]] == ["x", "y"]
    assert (detail["where"], detail["code"]) == ("line 5", "x * y")


@needs_graphviz
def test_a_box_is_stored_only_when_it_changes() -> None:
    (chapter,) = data_of(viz.film(diamond()).html)["chapters"]
    assert chapter["boxes"].keys() == {"n0", "n1", "n2", "n3", "n4", "s0"}
    assert [since for since, _, _ in chapter["boxes"]["n4"]] == [0, 1, 2]
    assert [since for since, _, _ in chapter["boxes"]["s0"]] == [0]
    assert len(chapter["rows"]) == len({tuple(row) for row in chapter["rows"]})


@needs_graphviz
def test_the_details_of_a_long_film_are_in_parts() -> None:
    html = page_of_400()
    scripts = scripts_of(html)
    assert [id for id in scripts if id != "film"] == [f"d0-{number}" for number in range(5)]
    assert {len(part["steps"]) for id, part in scripts.items() if id not in ("film", "d0-4")} == {100}
    assert len(said(html)) == scripts["film"]["chapters"][0]["count"] == 407


@needs_graphviz
def test_the_source_of_each_step_is_in_the_page() -> None:
    html = viz.film(diamond()).html
    sources, part = data_of(html)["sources"], scripts_of(html)["d0-0"]
    file, first, last, begin, end = part["steps"][3]["mark"]
    assert (first, last) == (5, 5)
    assert sources[file].splitlines()[4][begin:end] == "x * y"
    assert part["steps"][0]["mark"][1] == 6  # the call of backward


@needs_graphviz
def test_all_passes_or_a_single_one_are_filmed() -> None:
    assert len(data_of(viz.film(twice()).html)["chapters"]) == 2
    (second,) = data_of(viz.film(twice(), pass_index=1).html)["chapters"]
    assert second["title"].endswith("pass 2")


@needs_graphviz
def test_a_part_of_a_long_pass_can_be_filmed() -> None:
    recording = chain(400)
    part, whole = viz.film(recording, steps=(200, 210)).html, page_of_400()
    (chapter,), (every,) = data_of(part)["chapters"], data_of(whole)["chapters"]
    assert (chapter["first"], chapter["count"]) == (200, 11)
    assert said(part) == said(whole)[200:211]
    assert len(chapter["tape"]) < 20 < len(every["tape"])
    assert data_of(viz.film(recording, steps=(400, 9999)).html)["chapters"][0]["count"] == 7


def test_a_film_that_cannot_be_made_gives_one_clear_line(tmp_path: Path) -> None:
    for make, message in [
        (lambda: viz.film(mt.tensor(1.0, requires_grad=True) * 2.0).html, "nothing to play: no backward pass"),
        (
            lambda: viz.film(chain(30), most_steps=20).html,
            r"36 steps are too many .*most_steps=20\): film a part with steps=\(0, 20\), or raise most_steps=",
        ),
        (lambda: viz.film(twice(), most_steps=9).html, "film one pass with pass_index=, or raise most_steps="),
        (lambda: viz.film(diamond(), tmp_path / "a.mp4"), r"the name of a film should end in \.html or \.gif"),
        (lambda: viz.film(twice(), steps=(0, 2)).html, "steps= needs a single pass: choose it with pass_index="),
        (lambda: viz.film(diamond(), steps=(3, 2)).html, r"steps=\(3, 2\) is not valid: the pass has 5 steps"),
        (lambda: viz.film(diamond(), steps="0:2").html, "steps='0:2' is not valid: it takes two numbers"),
        (lambda: viz.film(diamond(), pass_index=3).html, "there is no pass 3"),
        (lambda: viz.film(diamond(), theme="neon").html, "there is no theme 'neon'"),
    ]:
        with pytest.raises(viz.DrawError, match=message):
            make()
    with pytest.raises(TypeError, match=r"viz\.film\(\) takes a Recording"):
        viz.film(3)
    assert list(tmp_path.iterdir()) == []


@needs_graphviz
def test_the_same_film_twice_is_the_same_bytes() -> None:
    assert viz.film(diamond()).html == viz.film(diamond()).html


@needs_graphviz
def test_the_page_loads_nothing_and_allows_only_its_own_script() -> None:
    html = viz.film(diamond()).html
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.findall(r"""(?:src|href)\s*=(?!"#)|url\((?!#)|@import|https?://(?!www\.w3\.org)""", html)
    assert " style=" not in html
    assert "onclick" not in html


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{style}}\u2028<!--"


@needs_graphviz
def test_names_cannot_break_out_of_the_page() -> None:
    recording = diamond()
    tensors = tuple(one._replace(names=(HOSTILE,)) if one.id == 0 else one for one in recording.tensors)
    html = viz.film(replace(recording, title=HOSTILE, tensors=tensors)).html
    assert "<script>alert" not in html
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 3
    assert data_of(html)["chapters"][0]["title"].startswith("</script><script>alert(1)")


@pytest.mark.slow
@needs_graphviz
def test_200_steps_of_large_arrays_fit_in_5_megabytes() -> None:
    with mt.record() as recorder:
        weights = mt.ones(64, 64, requires_grad=True)
        x = mt.tensor(np.linspace(-1, 1, 64 * 64).reshape(64, 64).tolist())
        for k in range(66):
            x = (x @ weights * (0.01 + k * 1e-5)).tanh()
        x.sum().backward()
    assert len(recorder.recording.passes[0].steps) == 200
    assert len(viz.film(recorder.recording).html.encode()) < 5_000_000
    assert len(viz.film(recorder.recording, fold=False).html.encode()) < 5_000_000


# --- the page in a browser -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("chromium"))
    yield one
    one.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "diamond.html"
    viz.film(diamond(), path)
    return path


def say(browser: Browser) -> str:
    text: str = browser.evaluate("document.getElementById('say').textContent")
    return text


def state(browser: Browser, box: str) -> str:
    text: str = browser.evaluate(f"document.getElementById('p0-{box}').getAttribute('class')")
    return text.split()[-1]


@needs_graphviz
@needs_browser
def test_keys_step_forwards_and_back(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert say(browser) == "before step 1 of 5"
    browser.press("ArrowRight", "ArrowRight", "l")
    assert say(browser).startswith("after step 3 of 5: %2 MulBackward0 sent 15 to x")
    assert (state(browser, "n2"), state(browser, "n4"), state(browser, "n0")) == ("current", "done", "receiving")
    assert browser.evaluate("document.querySelector('#detail h2').textContent") == "%2 = mul(x, y)"
    assert browser.evaluate("document.querySelector('.tape .current .what').textContent") == "%2 = mul(x, y) scalar"
    browser.press("h", "ArrowLeft")
    assert say(browser).startswith("after step 1 of 5")
    assert (state(browser, "n2"), state(browser, "n4")) == ("receiving", "current")
    browser.press("End")
    assert say(browser).startswith("after step 5 of 5")
    rows = browser.evaluate("[...document.querySelectorAll('#p0-n0 [data-t]')].map(t => t.textContent)")
    assert rows[:2] == ["2", "21"]
    browser.press("Home", "ArrowLeft")
    assert say(browser) == "before step 1 of 5"


@needs_graphviz
@needs_browser
def test_it_plays_pauses_and_can_be_scrubbed(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.evaluate("document.getElementById('speed').value = '10'")
    browser.press(" ")
    assert browser.evaluate("document.getElementById('play').textContent") == "Pause"
    deadline = time.monotonic() + PATIENCE
    while not say(browser).startswith("after step 5"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert browser.evaluate("document.getElementById('play').textContent") == "Play"
    browser.evaluate("(t => { t.value = 2; t.dispatchEvent(new Event('input')); })(document.getElementById('time'))")
    assert say(browser).startswith("after step 2 of 5")
    browser.click("#back")
    assert say(browser).startswith("after step 1 of 5")
    browser.click(".tape li:first-child button")
    assert say(browser).startswith("after step 5 of 5: %0")


@needs_graphviz
@needs_browser
def test_it_requests_nothing_from_the_network_and_violates_no_policy(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("ArrowRight", "End", "t", "t", "+", "-")
    assert browser.requests == [page.as_uri()]
    assert browser.complaints == []


@needs_graphviz
@needs_browser
def test_a_hostile_name_is_only_shown(browser: Browser, tmp_path: Path) -> None:
    recording = diamond()
    tensors = tuple(one._replace(names=(HOSTILE,)) if one.id == 0 else one for one in recording.tensors)
    path = tmp_path / "hostile.html"
    viz.film(replace(recording, title=HOSTILE, tensors=tensors), path)
    browser.open(path)
    browser.press("ArrowRight", "End")
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.evaluate("document.querySelector('#p0-n0 .title').textContent").startswith("</script><script>")


@needs_graphviz
@needs_browser
def test_without_script_the_first_picture_is_shown(browser: Browser, page: Path) -> None:
    html = re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL)
    plain = page.with_name("plain.html")
    plain.write_text(html)
    browser.open(plain)
    seen = browser.evaluate("document.body.innerText")
    assert "before step 1 of 5" in seen
    assert browser.evaluate("document.getElementById('controls').hidden") is True
    assert browser.evaluate("document.getElementById('p0').getBoundingClientRect().width") > 200
    assert "needs JavaScript" in page.read_text()


@needs_graphviz
@needs_browser
def test_on_a_phone_every_control_is_visible(browser: Browser, page: Path) -> None:
    browser.open(page, size=(390, 844))
    inside = "(r => r.left >= 0 && r.right <= 390 && r.top >= 0 && r.bottom <= 844 && r.width > 0)"
    shown = f"[...document.querySelectorAll('button, select, #time')].filter(e => e.offsetParent).map(e => [e.id, {inside}(e.getBoundingClientRect())])"  # noqa: E501
    buttons = dict(browser.evaluate(shown))
    assert {"first", "back", "play", "step", "last", "time", "show-tape", "show-detail"} <= buttons.keys()
    assert all(buttons.values()), buttons
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    browser.press("ArrowRight")
    assert browser.evaluate("document.getElementById('tape').offsetParent") is None
    browser.click("#show-tape")
    assert browser.evaluate("document.getElementById('tape').offsetParent !== null")
    box = "document.querySelector('.box.current').getBoundingClientRect()"
    assert browser.evaluate(f"{box}.top >= 0 && {box}.bottom <= 844")


@needs_graphviz
@needs_browser
def test_the_colours_are_the_readers(browser: Browser, page: Path) -> None:
    def background() -> str:
        colour: str = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        return colour

    browser.open(page)
    light = background()
    browser.open(page, dark=True)
    assert background() != light
    browser.press("t")
    assert background() == light  # the first of the themes by name


@needs_graphviz
@needs_browser
def test_a_failed_pass_ends_with_its_error(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "failing.html"
    viz.film(failing(), path)
    browser.open(path)
    visible = "getComputedStyle(document.getElementById('p0-error')).visibility"
    assert browser.evaluate(visible) == "hidden"
    browser.press("End")
    assert browser.evaluate(visible) == "visible"
    assert state(browser, "n1") == "failed"
    assert "modified by an inplace operation" in browser.evaluate("document.getElementById('detail').textContent")


# --- the GIF ---------------------------------------------------------------------------------------------------------


@needs_graphviz
def test_a_gif_fits_into_a_place_and_a_page_into_its_window(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    film = viz.film(diamond(), fit="slide")
    with image.open(io.BytesIO(film.gif())) as gif:
        assert gif.n_frames == 6
        assert gif.width <= 1282
        assert gif.height <= 722
        assert max(gif.width / 1280, gif.height / 720) > 0.97
    with pytest.raises(viz.DrawError, match=r"fit= is for a \.gif"):
        film.save(tmp_path / "a.html")


@needs_graphviz
def test_a_gif_that_is_too_large_follows_the_current_box() -> None:
    film = viz.film(chain(12), fit=(500, 400), fold=False)
    frames, arrangement, camera = fit_frames(film._draft, (500, 400), None, LIGHT, 60, may_fold=False)
    assert camera is not None
    assert arrangement.height is not None
    assert arrangement.height > 400
    for frame, view in zip(frames, camera.views(frames, 1), strict=True):
        current = [camera.boxes[box.id] for box in frame.boxes if box.state == "current" and box.kind != "again"]
        for box in current:
            assert view.left <= box.left + 1
            assert box.right <= view.left + view.width + 1
            assert view.top <= box.top + 1
            assert box.bottom <= view.top + view.height - view.heading + 1
    with Image.open(io.BytesIO(film.gif())) as gif:
        assert gif.size == (500, 400)
        assert gif.n_frames == len(frames)


def test_a_film_has_amounts_of_detail() -> None:
    with pytest.raises(viz.DrawError, match="detail='all' is not valid: it takes brief, lecture, debug"):
        viz.film(diamond(), detail="all")  # type: ignore[arg-type]


@needs_graphviz
def test_a_gif_has_a_picture_for_every_step(tmp_path: Path) -> None:
    path = tmp_path / "diamond.gif"
    told = []
    viz.film(diamond(), path, seconds=0.2, progress=lambda done, of: told.append((done, of)))
    with Image.open(path) as image:
        assert image.n_frames == 6
        assert image.info["loop"] == 0
        assert image.info["duration"] == 200
        sizes = {image.size for k in range(6) if image.seek(k) is None}
        assert len(sizes) == 1
    assert told == [(done, 12) for done in range(13)]  # each picture is built, then drawn


@needs_graphviz
def test_progress_of_a_page_is_reported(tmp_path: Path) -> None:
    told = []
    viz.film(diamond(), tmp_path / "diamond.html", progress=lambda done, of: told.append((done, of)))
    assert told == [*((done, 10) for done in range(7)), (10, 10)]  # six pictures, then the page


def test_without_pillow_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(viz.DrawError, match=r"needs Pillow: run `pip install pillow`, or write the film as \.html"):
        viz.film(diamond(), tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


@needs_graphviz
def test_the_svg_in_the_page_is_well_formed() -> None:
    html = viz.film(double()).html
    for svg in re.findall(r'<svg id="p\d+".*?</svg>', html, re.DOTALL):
        ElementTree.fromstring(svg.replace(" hidden ", " "))


def test_what_cannot_be_filmed_is_refused_at_once() -> None:
    loss = mt.tensor(2.0, requires_grad=True) * 3
    with pytest.raises(viz.DrawError, match=r"no backward pass was recorded \(microtape.record\(loss.backward\)"):
        viz.film(loss)


def test_the_options_of_a_film_are_its_fields() -> None:
    fields = {one.name: one for one in dataclasses.fields(viz.Film)}
    options = dict(inspect.signature(viz.film).parameters)
    for name in ("x", "path"):
        del options[name]
    assert options.keys() == fields.keys() - {"recording"}
    named = [name for name in options if name != "progress"]
    assert [options[name].default for name in named] == [fields[name].default for name in named]
    with pytest.raises(TypeError, match="unexpected keyword argument 'stepps'"):
        viz.film(diamond(), stepps=(0, 1))  # type: ignore[call-arg]


@needs_graphviz
@needs_browser
def test_the_address_names_the_step(browser: Browser, page: Path) -> None:
    browser.open(f"{page.as_uri()}#step=3")
    assert say(browser).startswith("after step 3 of 5")
    browser.press("ArrowRight")
    deadline = time.monotonic() + PATIENCE
    while browser.evaluate("location.hash") != "#step=4":  # it is written a little later
        assert time.monotonic() < deadline
        time.sleep(0.05)
    browser.evaluate("location.hash = 'step=1'")
    while not say(browser).startswith("after step 1 of 5"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    browser.open(page)
    assert browser.evaluate("location.hash") == ""
    assert browser.complaints == []


@needs_graphviz
@needs_browser
def test_a_title_stays(browser: Browser, tmp_path: Path) -> None:
    browser.open(viz.film(twice(), title="How <b>gradients</b> add up").save(tmp_path / "run.html"))
    browser.press("ArrowRight")
    assert browser.evaluate("document.querySelector('h1').textContent") == "How <b>gradients</b> add up"


# --- looking around ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film of a graph that is much taller than a window."""
    return viz.film(chain(24), fold=False).save(tmp_path_factory.mktemp("film") / "tall.html")


def place(browser: Browser, selector: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the element in the window."""
    found = browser.evaluate(
        f"(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('{selector}').getBoundingClientRect())"
    )
    left, top, right, bottom = found
    return left, top, right, bottom


def is_inside(browser: Browser, selector: str, of: str) -> bool:
    inner, outer = place(browser, selector), place(browser, of)
    return inner[0] >= outer[0] and inner[1] >= outer[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


@needs_graphviz
@needs_browser
def test_the_source_follows_the_step(browser: Browser, page: Path) -> None:
    browser.open(page)
    marked = "[...document.querySelectorAll('#lines .current')].map(l => [...l.parentNode.children].indexOf(l) + 1)"
    assert browser.evaluate(marked) == [6]  # backward is called here
    browser.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert browser.evaluate(marked) == [5]
    assert browser.evaluate("document.querySelector('#lines mark').textContent") == "x * y"
    assert browser.evaluate("document.getElementById('file').textContent") == "diamond.py"
    lines = browser.evaluate("[...document.querySelectorAll('#lines li')].map(l => l.textContent.trim())")
    assert lines[: len(diamond().sources["diamond.py"].splitlines())] == [
        line.strip() for line in diamond().sources["diamond.py"].splitlines()
    ]


@needs_graphviz
@needs_browser
def test_a_click_on_a_box_goes_to_its_step(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.click("#p0-n2 .title")
    assert say(browser).startswith("after step 3 of 5: %2")
    browser.click("#p0-n4 .title")
    assert say(browser).startswith("after step 1 of 5: %4")
    browser.click("#p0-s0 .title")  # the call of backward is no step
    assert say(browser).startswith("after step 1 of 5")


@needs_graphviz
@needs_browser
def test_the_graph_is_dragged_and_a_drag_is_no_click(browser: Browser, page: Path) -> None:
    browser.open(page)
    before = place(browser, "#p0-n2")
    browser.drag("#p0-n2 .title", 60, -40)
    after = place(browser, "#p0-n2")
    assert after[0] - before[0] == pytest.approx(60, abs=1)
    assert after[1] - before[1] == pytest.approx(-40, abs=1)
    assert say(browser) == "before step 1 of 5"
    browser.click("#p0-n2 .title")
    assert say(browser).startswith("after step 3 of 5")


@needs_graphviz
@needs_browser
def test_the_wheel_zooms_at_the_mouse_and_a_key_fits_the_graph(browser: Browser, tall: Path) -> None:
    browser.open(tall, size=(1280, 720))
    assert not is_inside(browser, "#p0", "#stage")
    (x, y), before = browser.centre(".graph .box.ready"), place(browser, ".graph .box.ready")
    browser.wheel(".graph .box.ready", -300)
    after = place(browser, ".graph .box.ready")
    assert (after[2] - after[0]) / (before[2] - before[0]) > 1.3
    assert browser.centre(".graph .box.ready") == pytest.approx((x, y), abs=1)
    browser.press("f")
    assert is_inside(browser, "#p0", "#stage")
    browser.press("End", "Home", "ArrowRight")
    assert is_inside(browser, "#p0", "#stage")  # the size is the user's now
    assert browser.complaints == []


@needs_graphviz
@needs_browser
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_the_box_of_each_step_is_seen_whole(browser: Browser, tall: Path, size: tuple[int, int]) -> None:
    browser.open(tall, size=size)
    assert is_inside(browser, ".graph .box.ready", "#stage")
    for _ in range(6):
        browser.press("ArrowRight")
        assert is_inside(browser, ".graph .box.current:not(.again)", "#stage")
    browser.press("End")
    assert is_inside(browser, ".graph .box.current:not(.again)", "#stage")


@needs_graphviz
@needs_browser
def test_a_graph_that_fits_stays_whole_when_the_window_changes(browser: Browser, page: Path) -> None:
    browser.open(page, size=(1280, 620))
    for size in ((1280, 900), (1280, 620)):
        browser.resize(size)
        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert is_inside(browser, "#p0", "#stage")
        graph, stage = place(browser, "#p0"), place(browser, "#stage")
        assert graph[1] - stage[1] == pytest.approx(stage[3] - graph[3], abs=2)


@needs_graphviz
@needs_browser
def test_rows_are_buttons_that_keys_reach_and_a_link_skips_them(browser: Browser, tall: Path) -> None:
    browser.open(tall)
    focus = "document.activeElement"
    browser.press("Tab")
    assert browser.evaluate(f"{focus}.id") == "skip"
    browser.press("Enter")
    assert browser.evaluate(f"{focus}.id") == "stage"
    assert say(browser).startswith("before step 1")
    browser.evaluate("document.querySelector('.tape li:last-child button').focus()")
    browser.press("ArrowUp")
    what = browser.evaluate(f"{focus}.querySelector('.what').textContent")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('.tape [aria-current=step] .what').textContent") == what
    assert browser.evaluate(f"{focus}.querySelector('.what').textContent") == what


@needs_graphviz
@needs_browser
def test_a_step_is_printed_whole_on_one_page(browser: Browser, tall: Path, tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    browser.open(f"{tall.as_uri()}#step=9")
    before = place(browser, "#p0")
    (paper,) = pypdf.PdfReader(io.BytesIO(browser.printed())).pages
    text = "".join(paper.extract_text().split())
    titles = browser.evaluate(
        "[...document.querySelectorAll('.graph .box:not(.absent) .title')].map(t => t.textContent)"
    )
    assert [title for title in titles if "".join(title.split()) not in text] == []
    assert "".join(say(browser).split()) in text
    assert place(browser, "#p0") == before
    browser.press("ArrowRight")
    assert is_inside(browser, ".graph .box.current:not(.again)", "#stage")


@needs_graphviz
@needs_browser
def test_what_is_said_of_a_step_goes_on_on_more_sheets(browser: Browser, tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    xs = [mt.tensor(float(i), requires_grad=True) for i in range(40)]
    film = viz.film(mt.record(lambda: mt.stack(xs).sum().backward()), fold=False)
    browser.open(f"{film.save(tmp_path / 'film.html').as_uri()}#step=2")
    first, last = (paper.extract_text() for paper in pypdf.PdfReader(io.BytesIO(browser.printed())).pages)
    assert "xs[0] (%0)" in first
    assert "xs[39] (%39)" in last


@needs_graphviz
@needs_browser
def test_a_film_of_30000_steps_opens_and_makes_few_rows(browser: Browser, tmp_path: Path) -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program() -> None:
        y = x
        for _ in range(10_000):
            y = (y * 1.0001).sin() + x
        y.sum().backward()

    path = viz.film(mt.record(program)).save(tmp_path / "long.html")
    assert path.stat().st_size < 40_000_000
    browser.open(f"{path.as_uri()}#step=15000")
    assert say(browser).startswith("after step 15000 of 30002")
    assert browser.evaluate("document.querySelectorAll('.tape li').length") < 120
    assert browser.evaluate("document.querySelector('.tape .current .grad').textContent")
    browser.press("ArrowRight", "Home", "End", "ArrowLeft")
    assert say(browser).startswith("after step 30001 of 30002")
    assert browser.complaints == []
