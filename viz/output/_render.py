"""The one file that knows the Graphviz libraries: quoting for the DOT language, and, run as a program, drawing.

Note [Graphviz runs elsewhere]
`pygraphviz` carries Graphviz in its wheel, so no system package is needed. But it holds the interpreter's lock, cannot
be interrupted, and writes to the terminal when it has something to say. So `viz.render` runs this file in a child
process that reads DOT and writes a picture. The file imports nothing of ours, and the libraries only where they are
used: the child starts in a few hundredths of a second, and the quoting works where pygraphviz cannot be imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

NOT_INSTALLED = 3  # exit code of the child where pygraphviz cannot be imported
FAILED = 4  # and where Graphviz refuses the graph
MOST_BYTES = 3000  # of one quoted string before escaping: Graphviz's parser gives up at 16 kB


def plain(text: str) -> str:
    r"""An attribute's value that shows as this text: neither `<b>` nor `\N` nor `&amp;` means anything in it."""
    from graphviz import quoting  # type: ignore[import-untyped]

    value: str = quoting.escape(_short(text).replace("&", "&amp;"))
    return value


def tooltip(lines: Iterable[str]) -> str:
    """A tooltip's value, a line each. Graphviz undoes its escapes twice there."""
    from graphviz import quoting

    escaped = _short("\n".join(lines)).replace("&", "&amp;").replace("\\", "\\" * 4).replace("\n", "\\n")
    value: str = quoting.nohtml(escaped)
    return value


def markup_text(text: str) -> str:
    r"""Text inside an HTML-like label. Graphviz looks for `\N` there as well."""
    for character, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\\", "\\\\")):
        text = text.replace(character, escape)
    return text


def markup(label: str) -> str:
    """An HTML-like label's value, from markup whose texts went through `markup_text`."""
    return f"<{label}>"


def quote(value: str) -> str:
    """An identifier or an attribute's value as DOT writes it."""
    from graphviz import quoting

    return str(quoting.quote(value))


def attributes(values: Mapping[str, str]) -> str:
    """An attribute list as DOT writes it, in alphabetical order."""
    return " ".join(f"{name}={quote(values[name])}" for name in sorted(values))


def _short(text: str) -> str:
    """The text's beginning, in as many bytes as a quoted string may have."""
    return text.encode("utf-8")[:MOST_BYTES].decode("utf-8", "ignore")


def main(format: str, dots_per_inch: str) -> int:
    """DOT from standard input, the picture to standard output; the exit code says what went wrong."""
    try:
        import pygraphviz  # type: ignore[import-untyped]
    except ImportError as error:
        print(error, file=sys.stderr)
        return NOT_INSTALLED
    try:
        graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode("utf-8"))
        graph.graph_attr["dpi"] = dots_per_inch
        picture = graph.draw(format=format, prog="dot")
    except Exception as error:  # the other side shows it as one line
        print(error, file=sys.stderr)
        return FAILED
    sys.stdout.buffer.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
