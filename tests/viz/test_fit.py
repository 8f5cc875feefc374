"""Pictures that fit into a place, as a user asks for them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import microtape as mt
import viz
from tests.support.recordings.handmade import diamond, failing
from tests.support.rendering import needs_graphviz
from tests.viz.gallery.gaps import outside
from tests.viz.gallery.kinds import KINDS
from viz.basics.options import AMOUNTS
from viz.fitting.sizes import Fit, sizes_of
from viz.output.measure import measure

pytestmark = needs_graphviz

ROOT = Path(__file__).resolve().parents[2]
SMALL_KINDS = ("example", "in_place_error", "several_outputs", "experts")
HARD = "heat"  # of the gallery: its heat maps were asked for, and are too wide for every place
THROUGH = ("inside", "column")  # an arrow runs through the name of a frame


def _chain(length: int) -> mt.Tensor:
    y = mt.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return y.sum()


@pytest.mark.parametrize("fit", ["slide", "a4", (1600, 900)])
@pytest.mark.parametrize("name", SMALL_KINDS)
def test_the_text_can_be_read(name: str, fit: Fit) -> None:
    (kind,) = [kind for kind in KINDS if kind.name == name]
    found = measure(viz.draw(kind.recording(), fit=fit).svg())
    texts = [found.text_at(*size) for size in sizes_of(fit)]
    assert max(texts) >= 12
    assert outside(found) == 0


def test_the_picture_has_the_size_that_was_asked_for() -> None:
    found = measure(viz.draw(_chain(8), fold=False, fit=(800, 600)).svg())
    width, height = (side * 96 / 72 for side in (found.width, found.height))
    assert width <= 802
    assert height <= 602
    assert max(width / 800, height / 600) > 0.97


def test_what_cannot_be_read_says_so_in_one_line() -> None:
    with pytest.warns(
        UserWarning, match=r"^the smallest text is [\d.]+ pixels high at 200x200, and 12 can be read: [^\n]*$"
    ):
        viz.draw(_chain(40), fold=False, fit=(200, 200))


def test_what_was_asked_for_is_kept() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = viz.draw(_chain(12), fold=False, fit="slide", show=("values",)).graph
    assert len([box for box in shown.boxes if box.kind == "operation"]) == 13
    assert {row.key for box in shown.boxes for row in box.rows} == {"value"}


def test_without_a_place_the_picture_stays_as_it_is() -> None:
    assert " size=" not in viz.draw(diamond()).dot
    assert viz.draw(diamond(), detail="debug").dot == viz.draw(diamond()).dot


@pytest.mark.parametrize("detail", list(AMOUNTS))
def test_an_amount_of_detail_is_a_list_of_details(detail: Any) -> None:
    assert viz.draw(diamond(), detail=detail).dot == viz.draw(diamond(), show=AMOUNTS[detail]).dot


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"detail": "all"}, "detail='all' is not valid: it takes brief, lecture, debug"),
        ({"detail": "brief", "show": ("values",)}, "show= and detail= both say what to show"),
        ({"fit": "poster"}, "fit='poster' is not valid"),
    ],
)
def test_a_mistake_gives_one_clear_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(viz.DrawError, match=message):
        viz.draw(diamond(), **options)


def test_another_process_with_other_hashes_fits_it_alike() -> None:
    program = "import sys, viz; from tests.support.recordings.handmade import failing; "
    program += "sys.stdout.buffer.write(viz.draw(failing(), fit='slide').dot.encode())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
    assert done.stdout.decode() == viz.draw(failing(), fit="slide").dot


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["slide", "a4", "column"])
def test_nearly_all_kinds_of_program_can_be_read(fit: Any) -> None:
    small = set()
    for kind in KINDS:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            drawing = viz.draw(kind.recording(), **kind.options, fit=fit)
        found = measure(drawing.svg())
        assert outside(found) == 0, kind.name
        assert found.through == 0 or (kind.name, fit) == THROUGH, kind.name
        best = max(found.text_at(*size) for size in sizes_of(fit))
        assert (best < 11.9) <= bool(told), kind.name
        small |= {kind.name} if best < 11.9 else set()
    assert small <= {HARD}


@needs_graphviz
@pytest.mark.parametrize(("fit", "page"), [("a4", (595, 842)), ("slide", (960, 540)), ((700, 500), (525, 375))])
def test_a_pdf_has_the_pages_that_it_needs(fit: Any, page: tuple[float, float], tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    with pytest.warns(UserWarning, match=r"or save it as a \.pdf of several pages$"):
        drawing = viz.draw(_chain(60), fold=False, show=("values", "gradients"), fit=fit)
    pages = pypdf.PdfReader(drawing.save(tmp_path / "chain.pdf")).pages
    assert len(pages) > 2
    for number, one in enumerate(pages, 1):
        assert sorted(map(round, (one.mediabox.width, one.mediabox.height))) == sorted(page)
        assert f"{number} of {len(pages)}" in one.extract_text()


@needs_graphviz
def test_the_text_of_a_page_can_be_read() -> None:
    pypdf = pytest.importorskip("pypdf")
    with pytest.warns(UserWarning, match="the smallest text"):
        pdf = viz.draw(_chain(120), fold=False, show=("values", "gradients"), fit="a4").pdf()
    form = pypdf.PdfReader(io.BytesIO(pdf)).pages[0]["/Resources"]["/XObject"]["/Picture"].get_data().decode("latin-1")
    sizes = {float(size) for size in re.findall(r"([\d.]+) 0 0 -?[\d.]+ [-\d.]+ [-\d.]+ Tm", form)}
    assert sizes
    assert min(sizes) >= 12 * 72 / 96 - 0.01


@needs_graphviz
def test_a_pdf_that_can_be_read_has_one_page() -> None:
    pypdf = pytest.importorskip("pypdf")
    assert len(pypdf.PdfReader(io.BytesIO(viz.draw(diamond(), fit="a4").pdf())).pages) == 1


@needs_graphviz
def test_without_pypdf_a_pdf_has_one_page_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.drawing, "can_write_pages", lambda: False)
    with pytest.warns(UserWarning, match="the smallest text"):
        drawing = viz.draw(_chain(120), fold=False, show=("values", "gradients"), fit="a4")
    with pytest.warns(UserWarning, match=r"several pages needs pypdf: run `pip install pypdf`"):
        assert drawing.pdf().startswith(b"%PDF")
