"""Pictures of a recording, or of a live graph: DOT, SVG, PNG, PDF and text.

    recording + step  ->  build: VisualGraph  ->  dot: DOT text  ->  render: a picture, by Graphviz in a child process

`viz.draw(loss)` is all one needs; in a notebook what it returns shows itself.
"""

from viz.drawing import Drawing, draw
from viz.errors import DrawError, GraphvizError, TooLargeError
from viz.options import DETAILS

__all__ = ["DETAILS", "DrawError", "Drawing", "GraphvizError", "TooLargeError", "draw"]
