"""The only file that uses the Graphviz libraries: it quotes texts for DOT and, run as a program, draws pictures.

Note [Graphviz runs elsewhere]
`pygraphviz` includes Graphviz in its wheel, so no system package is needed. But it holds the interpreter's lock, cannot
be interrupted, and prints its warnings to the terminal. So `viz.output.render` runs this file in a child process that
reads DOT and writes a picture. The file imports nothing else of microtape, and imports the libraries only inside the
functions that use them: the child starts in a few hundredths of a second, and quoting works even if pygraphviz cannot
be imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

NOT_INSTALLED = 3  # exit code of the child if pygraphviz cannot be imported
FAILED = 4  # exit code if Graphviz rejects the graph
MOST_BYTES = 3000  # of one quoted string before escaping: Graphviz's parser gives up at 16 kB


def plain(text: str) -> str:
    r"""An attribute's value that displays exactly this text: `<b>`, `\N` and `&amp;` have no special meaning in it."""
    from graphviz import quoting  # type: ignore[import-untyped]

    value: str = quoting.escape(_short(text).replace("&", "&amp;"))
    return value


def tooltip(lines: Iterable[str]) -> str:
    """A tooltip's value of several lines. Graphviz unescapes tooltips twice."""
    from graphviz import quoting

    escaped = _short("\n".join(lines)).replace("&", "&amp;").replace("\\", "\\" * 4).replace("\n", "\\n")
    value: str = quoting.nohtml(escaped)
    return value


def markup_text(text: str) -> str:
    r"""Text inside an HTML-like label, where `\N` has a special meaning as well."""
    for character, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\\", "\\\\")):
        text = text.replace(character, escape)
    return text


def markup(label: str) -> str:
    """An HTML-like label's value; the texts in it come from `markup_text`."""
    return f"<{label}>"


def quote(value: str) -> str:
    """An identifier or an attribute's value as DOT writes it."""
    from graphviz import quoting

    return str(quoting.quote(value))


def attributes(values: Mapping[str, str]) -> str:
    """An attribute list as DOT writes it, in alphabetical order."""
    return " ".join(f"{name}={quote(values[name])}" for name in sorted(values))


def _short(text: str) -> str:
    """The beginning of the text that fits into a quoted string."""
    return text.encode("utf-8")[:MOST_BYTES].decode("utf-8", "ignore")


def main(format: str, dots_per_inch: str) -> int:
    """Read DOT from standard input and write the picture to standard output; the exit code says what went wrong."""
    try:
        import pygraphviz  # type: ignore[import-untyped]
    except ImportError as error:
        print(error, file=sys.stderr)
        return NOT_INSTALLED
    try:
        graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode("utf-8"))
        graph.graph_attr["dpi"] = dots_per_inch
        picture = graph.draw(format=format, prog="dot")
    except Exception as error:  # the parent shows it as one line
        print(error, file=sys.stderr)
        return FAILED
    sys.stdout.buffer.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
