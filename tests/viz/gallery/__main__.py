"""Prints a row of measurements for each picture of the gallery.

python -m tests.viz.gallery                      every picture as it is drawn by default
python -m tests.viz.gallery rnn mlp              those with these names
python -m tests.viz.gallery --fit slide          as it is drawn to fit there: slide, a4, column or 1600x900
python -m tests.viz.gallery --png FOLDER         also writes the pictures
"""

from __future__ import annotations

import argparse
from pathlib import Path

import viz
from tests.viz.gallery.gaps import largest_gap, outside
from tests.viz.gallery.kinds import KINDS
from tui.commands.picture_options import as_fit
from viz.output.measure import measure

READABLE = 12  # pixels
HALF_EMPTY = 0.35  # a gap that is as large as this part of a picture
PLACES = {"slide": (1280, 720), "A4": (794, 1123), "A4 wide": (1123, 794), "column": (800, 2400)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.viz.gallery")
    parser.add_argument("names", nargs="*", help="names of pictures")
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="also write the pictures into a folder")
    parser.add_argument("--fit", metavar="PLACE", help="draw them to fit there")
    options = parser.parse_args()
    fit = {} if options.fit is None else {"fit": as_fit(options.fit)}
    print(f"{'picture':<17} {'size':>11}  {'  '.join(f'{name:>7}' for name in PLACES)}  through outside empty")
    readable = dict.fromkeys(PLACES, 0)
    through = out = empty = 0
    chosen = [one for one in KINDS if not options.names or one.name in options.names]
    for kind in chosen:
        drawing = viz.draw(kind.recording(), **kind.options, **fit)
        found = measure(drawing.svg())
        texts = {name: found.text_at(*size) for name, size in PLACES.items()}
        cells = "  ".join(f"{size:>7.1f}" for size in texts.values())
        wide = f"{found.width:.0f}x{found.height:.0f}"
        gap, away = largest_gap(found), outside(found)
        print(f"{kind.name:<17} {wide:>11}  {cells}  {found.through:>7} {away:>7} {gap:>4.0%}", flush=True)
        for name, size in texts.items():
            readable[name] += size >= READABLE
        through, out, empty = through + found.through, out + away, empty + (gap >= HALF_EMPTY)
        if options.png is not None:
            options.png.mkdir(parents=True, exist_ok=True)
            drawing.save(options.png / f"{kind.name}.png", scale=1.3)
    counts = "  ".join(f"{count:>7}" for count in readable.values())
    print(f"{f'{READABLE} px or more':<17} {f'of {len(chosen)}':>11}  {counts}  {through:>7} {out:>7} {empty:>4}")


if __name__ == "__main__":
    main()
