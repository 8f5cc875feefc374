"""Pictures of a recording, or of a live graph: DOT, SVG, PNG, PDF and text.

    recording + step  ->  build: VisualGraph  ->  dot: DOT text  ->  render: a picture, by Graphviz in a child process

`viz.draw(loss)` is all one needs, and `viz.film(recording, "run.html")` to play it; in a notebook what they return
shows itself.
"""

from viz.basics.errors import DrawError, GraphvizError, TooLargeError
from viz.basics.options import DETAILS
from viz.basics.theme import THEMES
from viz.drawing import Drawing, draw
from viz.films.film import Film, film
from viz.notebook import install

__all__ = ["DETAILS", "THEMES", "DrawError", "Drawing", "Film", "GraphvizError", "TooLargeError", "draw", "film"]

install()
