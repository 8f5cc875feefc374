"""Pictures of the same size as one animated GIF, made by Pillow (the extra `gif`)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from viz.basics.errors import DrawError
from viz.films.camera import View

if TYPE_CHECKING:
    from PIL import Image

COLOURS = 128  # enough for flat colours and the edges of letters


def check_gif(seconds: float) -> None:
    """Raise DrawError if Pillow is not installed, or `seconds` is out of range."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise DrawError("a GIF needs Pillow: run `pip install pillow`, or write the film as .html") from None
    if not 0.02 <= seconds <= 60:
        raise DrawError(f"seconds={seconds:g} is not valid: it takes 0.02 to 60")


def to_gif(pngs: Sequence[bytes], seconds: float, views: Sequence[View] | None = None) -> bytes:
    """The pictures in an endless loop: each is shown for `seconds`, the last one three times as long.

    `views` says what to show of each picture; None: all of it. See `check_gif` for what it needs.
    """
    from PIL import Image

    images = [Image.open(io.BytesIO(png)).convert("RGB") for png in pngs]
    if views is not None:
        images = [_seen(image, view) for image, view in zip(images, views, strict=True)]
    some = [images[0], images[len(images) // 2], images[-1]]
    together = Image.new("RGB", (some[0].width, sum(one.height for one in some)))
    for number, one in enumerate(some):
        together.paste(one, (0, sum(before.height for before in some[:number])))
    palette = together.quantize(COLOURS)  # shared by all frames, so that only changes are stored
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    duration = [round(seconds * 1000)] * len(frames)
    duration[-1] = min(duration[-1] * 3, 60_000)
    buffer = io.BytesIO()
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=duration, loop=0, disposal=1)
    return buffer.getvalue()


def _seen(image: Image.Image, view: View) -> Image.Image:
    """The heading of a picture, and below it the part that is shown."""
    below = view.height - view.heading
    seen = image.crop((0, 0, view.width, view.height))
    seen.paste(image.crop((view.left, view.top, view.left + view.width, view.top + below)), (0, view.heading))
    return seen
