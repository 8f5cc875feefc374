"""Pictures of the same size as one animated GIF, made by Pillow (the extra `gif`)."""

from __future__ import annotations

import io
from collections.abc import Sequence

from viz.basics.errors import DrawError

COLOURS = 128  # enough for flat colours and the edges of letters


def to_gif(pngs: Sequence[bytes], seconds: float) -> bytes:
    """The pictures in an endless loop: each is shown for `seconds`, the last one three times as long.

    Raises:
        DrawError: Pillow is not installed, or `seconds` is out of range.
    """
    try:
        from PIL import Image
    except ImportError:
        raise DrawError("a GIF needs Pillow: run `pip install pillow`, or write the film as .html") from None
    if not 0.02 <= seconds <= 60:
        raise DrawError(f"seconds={seconds:g} is not valid: it takes 0.02 to 60")
    images = [Image.open(io.BytesIO(png)).convert("RGB") for png in pngs]
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
