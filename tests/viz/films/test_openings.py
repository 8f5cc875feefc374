"""Folds that open by a click on the page of a film."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import microtape as mt
import viz
from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import PassTimeline
from tests.support.browser import Browser, needs_browser
from tests.support.rendering import needs_graphviz
from viz.basics.options import Folding
from viz.films.openings import find_openings
from viz.scene.scene import Scene, make_scene


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("chromium"))
    yield one
    one.close()


def nested() -> Recording:
    x, w = mt.ones(2, requires_grad=True), mt.tensor(0.5, requires_grad=True)

    def program() -> None:
        y = x
        for name in ("encoder", "decoder"):
            with mt.scope(name):
                for _ in range(3):
                    with mt.scope("layer"):
                        y = (y * w).tanh().exp()
                y = y.sin()
        y.sum().backward()

    return mt.record(program)


def opened_by(scene: Scene) -> str:
    """`encoder[layer ×3] decoder`"""
    frames = {frame.name for around in scene.plan.clusters.values() for frame in around}
    return f"{sorted(frames)} {[group.title for group in scene.plan.view.groups]}"


def test_every_fold_has_an_opening_which_its_frame_closes() -> None:
    now = PassTimeline(nested(), 0).at()
    openings = find_openings(now, make_scene(now, folding=Folding(depth=0), focus=False), 300, 10)
    shown = [opened_by(one.scene) for one in openings]
    assert shown[:3] == ["[] ['encoder', 'decoder']", "['encoder'] ['layer ×3', 'decoder']",
                         "['decoder'] ['encoder', 'layer ×3']"]  # fmt: skip
    assert shown[3] == "['encoder', 'layer[2]'] ['layer[0:2] ×2', 'decoder']"
    for number, one in enumerate(openings):
        assert set(one.opens) == {group.id for group in one.scene.plan.view.groups}
        assert all(openings[outer].closes or not outer for outer in one.closes.values())
        for box, other in one.opens.items():
            assert box not in {group.id for group in openings[other].scene.plan.view.groups}
            assert other != number


def test_a_long_film_has_fewer_openings() -> None:
    now = PassTimeline(nested(), 0).at()
    scene = make_scene(now, folding=Folding(depth=0), focus=False)
    assert [len(find_openings(now, scene, 300, pictures)) for pictures in (1500, 3001, 30_000)] == [3, 1, 1]
    assert len(find_openings(now, scene, 2, 10)) == 1  # no more boxes than the user wants


@needs_graphviz
@needs_browser
def test_a_click_opens_a_fold_and_its_frame_closes_it(browser: Browser, tmp_path: Path) -> None:
    viz.film(nested(), tmp_path / "nested.html", depth=0)
    browser.open(tmp_path / "nested.html")
    browser.press("ArrowRight", "ArrowRight")
    shown = "[...document.querySelectorAll('svg.graph:not([hidden])')].map(one => one.id)"
    assert browser.evaluate(shown) == ["p0"]
    browser.click("#p0 .fold .title")
    (opened,) = browser.evaluate(shown)
    assert browser.evaluate(f"document.querySelector('#{opened} .open-fold text').textContent") == "encoder"
    assert browser.evaluate("document.getElementById('say').textContent").startswith("after step 2 of ")
    browser.press("ArrowRight")  # the other picture follows the steps
    assert browser.evaluate(f"document.querySelectorAll('#{opened} .current').length") == 1
    browser.click(f"#{opened} .open-fold text")
    assert browser.evaluate(shown) == ["p0"]
    assert browser.evaluate("document.querySelectorAll('#p0 .current').length") == 1
    browser.evaluate("document.querySelector('#p0 .opens').focus()")
    browser.press("Enter")
    assert browser.evaluate(shown) == [opened]
    assert not browser.complaints
