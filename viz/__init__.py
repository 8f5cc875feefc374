"""Pictures of a recording, or of a live graph: DOT, SVG, PNG, PDF and text.

`viz.draw(loss)` draws a graph, and `viz.film(recording, "run.html")` writes a page that plays a backward pass. In a
notebook, the results of both display themselves.

    recording + step  ->  scene: VisualGraph  ->  output: DOT text  ->  output: SVG, PNG or PDF, by Graphviz in a child

basics     the data of a graph (`graph`), themes, options, safe text (`characters`), heat maps, errors
planning   which nodes become boxes: `selection`, `folds` (scopes, loops, functions, lines), which make a `fold_tree`;
           `choose_cut` says what is open in it: what was asked for by `fold_names`, or an `overview`; `dataflow`,
           `box_plan`, `ranks`
scene      `scene` is what a picture shows; `visual_graph` builds its boxes and arrows at one step
insides    what ran inside of a node: `walk` finds the steps, `inside_graph` builds their boxes and arrows
fitting    makes a picture fit into a slide, a page or a column: `choose` takes the first of several `drafts` that fits,
           `columns` wraps it, `sheets` and `windows` divide it into the pages of a PDF
output     `dot` writes DOT, `render` runs Graphviz, `svg` and `text` write the other formats; `fonts`: missing letters;
           `spine` and `clear` keep ways straight and names readable, `measure` measures what Graphviz drew
films      `film` plays a pass as an HTML page (`page`, `page_data`, `page_svg`; its script is in `static`) or a GIF
           (`gif`, `camera`); `filming` makes the pictures, `fixed_layout` finds what changes in them

drawing        `viz.draw`
notebook       makes recordings display themselves in a notebook; `notebook_parts`: what is in them, and tensors
as_recording   converts the argument of `viz.draw` and `viz.film` into a recording
"""

from typing import TYPE_CHECKING

from microtape.basics.later import imported_later
from viz.notebook import install

if TYPE_CHECKING:
    from viz.basics.errors import DrawError, GraphvizError, TooLargeError
    from viz.basics.options import DETAILS
    from viz.basics.theme import THEMES
    from viz.drawing import Drawing, draw
    from viz.films.film import Film, film

__all__ = ["DETAILS", "THEMES", "DrawError", "Drawing", "Film", "GraphvizError", "TooLargeError", "draw", "film"]

# The stepper and the trace use parts of this package, and draw nothing.
__getattr__, __dir__ = imported_later(
    __name__,
    {
        "DETAILS": "basics.options",
        "THEMES": "basics.theme",
        **dict.fromkeys(("DrawError", "GraphvizError", "TooLargeError"), "basics.errors"),
        **dict.fromkeys(("Drawing", "draw"), "drawing"),
        **dict.fromkeys(("Film", "film"), "films.film"),
    },
)

install()
