"""Whether Graphviz is installed, for tests that need it.

On a bare machine, pygraphviz's wheel may lack system libraries; other tests check how the program copes with that.
"""

from __future__ import annotations

import os

import pytest

from viz.basics.errors import GraphvizError
from viz.output.render import render


def _is_there() -> bool:
    try:
        render("digraph { a }", "svg")
    except GraphvizError:
        return False
    return True


needs_graphviz = pytest.mark.skipif(
    not os.environ.get("MICROTAPE_NO_SKIP") and not _is_there(), reason="neither pygraphviz nor dot runs here"
)
