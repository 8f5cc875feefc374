"""Writes a PDF of several pages, each a window of one picture, by pypdf (the extra `pdf`)."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from viz.basics.theme import TEXT_FONT, Theme
from viz.output import graphviz_api
from viz.output.labels import TEXT_SIZE
from viz.output.measure import Rectangle

if TYPE_CHECKING:
    from pypdf import PdfWriter
    from pypdf.generic import StreamObject

FROM_EDGE = 12.0  # points between a page's number and the lower edge


def can_write_pages() -> bool:
    """Whether pypdf is installed."""
    return find_spec("pypdf") is not None


def pdf_of_pages(
    picture: bytes,
    size: tuple[float, float],
    windows: Sequence[Rectangle],
    page: tuple[float, float],
    margins: tuple[float, float],
    theme: Theme,
    drawn: Callable[[str], bytes],
) -> bytes:
    """Each window of the picture, a PDF of one page, on a page of its own, numbered.

    In points, `size` is that of the picture, around which Graphviz leaves a margin, `page` that of a page, and
    `margins` are the distances of a window from its left and its upper edge. `drawn` makes a PDF of DOT.
    """
    from pypdf import PdfWriter

    writer = PdfWriter()
    whole = _form(writer, picture)
    wide, high = (float(side) for side in whole["/BBox"][2:])  # type: ignore[index]
    left, top = (wide - size[0]) / 2, (high + size[1]) / 2
    for number, window in enumerate(windows, 1):
        label = _form(writer, drawn(_number(f"{number} of {len(windows)}", theme)))
        width, height = window.right - window.left, window.bottom - window.top
        low = page[1] - margins[1] - height
        aside = page[0] - margins[0] - float(label["/BBox"][2])  # type: ignore[index]
        red, green, blue = (int(theme.background[at : at + 2], 16) / 255 for at in (1, 3, 5))
        _add_page(
            writer,
            page,
            {"/Picture": whole, "/Number": label},
            f"q {red:.3f} {green:.3f} {blue:.3f} rg 0 0 {page[0]:.2f} {page[1]:.2f} re f Q "
            f"q {margins[0]:.2f} {low:.2f} {width:.2f} {height:.2f} re W n "
            f"1 0 0 1 {margins[0] - left - window.left:.2f} {low - top + window.bottom:.2f} cm /Picture Do Q "
            f"q 1 0 0 1 {aside:.2f} {FROM_EDGE:.2f} cm /Number Do Q",
        )
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _form(writer: PdfWriter, pdf: bytes) -> StreamObject:
    """The page of a PDF as something that pages can show: it is stored once."""
    from pypdf import PdfReader
    from pypdf.generic import DecodedStreamObject, NameObject

    page = PdfReader(io.BytesIO(pdf)).pages[0]
    content = page.get_contents()
    made = DecodedStreamObject()
    made.set_data(content.get_data() if content is not None else b"")
    made.update({NameObject("/Type"): NameObject("/XObject"), NameObject("/Subtype"): NameObject("/Form")})
    made[NameObject("/BBox")] = page.mediabox
    made[NameObject("/Resources")] = page["/Resources"].clone(writer)
    form = made.flate_encode()
    writer._add_object(form)
    return form


def _add_page(writer: PdfWriter, size: tuple[float, float], forms: Mapping[str, StreamObject], content: str) -> None:
    """A page that shows these forms, as its content says."""
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    page, stream = writer.add_blank_page(*size), DecodedStreamObject()
    stream.set_data(content.encode("ascii"))
    there = DictionaryObject({NameObject(name): form.indirect_reference for name, form in forms.items()})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): there})
    page[NameObject("/Contents")] = writer._add_object(stream)


def _number(text: str, theme: Theme) -> str:
    graph = {"bgcolor": theme.background, "pad": "0"}
    node = {"label": graphviz_api.plain(text), "shape": "plaintext", "margin": "0", "height": "0", "width": "0",
            "fontname": TEXT_FONT, "fontsize": str(TEXT_SIZE), "fontcolor": theme.muted}  # fmt: skip
    return f"digraph {{ graph [{graphviz_api.attributes(graph)}] n [{graphviz_api.attributes(node)}] }}"
