"""Films of all kinds of program in a browser: no arrow runs through text at any step, and no script fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import viz
from tests.support.browser import Browser, needs_browser
from tests.support.film_page import through_text
from tests.support.rendering import needs_graphviz
from tests.viz.gallery.kinds import KINDS, Kind

MOST_STEPS = 200  # of a longer program, its first and its last pass are filmed
OF_ONE_PICTURE = ("step", "around", "radius")  # options that a film has not


def filmed() -> list[Kind]:
    """Each kind with the options of its film. Kinds that differ only in which picture they are give the same film."""
    films: list[Kind] = []
    for kind in KINDS:
        film = kind._replace(options={name: one for name, one in kind.options.items() if name not in OF_ONE_PICTURE})
        if film[1:] not in [other[1:] for other in films]:
            films.append(film)
    return films


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("chromium"))
    yield one
    one.close()


@needs_graphviz
@needs_browser
@pytest.mark.parametrize("kind", filmed(), ids=lambda kind: kind.name)
def test_no_arrow_runs_through_text(kind: Kind, browser: Browser, tmp_path: Path) -> None:
    recording = kind.recording()
    films = [kind.options]
    if sum(len(one.steps) for one in recording.passes) > MOST_STEPS:
        films = [{"pass_index": one} | kind.options for one in (0, len(recording.passes) - 1)]
    for options in films:
        browser.open(viz.film(recording, **options).save(tmp_path / "film.html"))
        assert through_text(browser) == []
    assert browser.complaints == []


@needs_graphviz
@needs_browser
def test_an_arrow_through_text_is_found(browser: Browser, tmp_path: Path) -> None:
    kind = next(one for one in KINDS if one.name == "example")
    browser.open(viz.film(kind.recording()).save(tmp_path / "film.html"))
    browser.evaluate("""
      (() => {
        const text = document.querySelector('.graph .title'), path = document.querySelector('.graph .arrow path');
        const box = text.getBBox(), y = Number(text.getAttribute('y')) - 3;
        path.setAttribute('d', `M${box.x - 20},${y}L${box.x + box.width + 20},${y}`);
      })()
    """)
    assert through_text(browser)
