"""Draw the rooms of the code and what they import from each other: `python docs/make_rooms.py`.

A room is a folder of a package. Its box repeats the first line of its docstring, and an arrow leads from a room to
what it imports; an arrow that a longer path implies is left out. Between two packages there is one arrow, which names
the rooms that are imported.
"""

from __future__ import annotations

import ast
import html
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from viz.basics.theme import LIGHT, TEXT_FONT
from viz.output.render import render

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
PACKAGES = {"tui": "#eaf2fb", "lessons": "#edf6e8", "viz": "#fdf3e3", "microtape": "#f3f0fa"}
PUBLIC = "public names"  # a package's own `__init__`, and torch's namespaces
NAMESPACES = {"autograd", "nn", "optim", "utils", "_C", "cuda", "dialects", "linalg"}
LONE_FILES = {
    "errors": "basics",
    "random": "ops",
    "notebook": PUBLIC,
}  # files outside of any folder -> the room that they are drawn with
NOT_DRAWN = {"course", "examples", "__main__"}  # programs for learners, and the command's entry
BLUE = {
    ("tui", "viz"): ("commands", PUBLIC),
    ("tui", "lessons"): ("shell", "proving"),
    ("tui", "microtape"): ("shell", PUBLIC),
    ("viz", "microtape"): ("basics", PUBLIC),
    ("lessons", "microtape"): ("checking", "transforms"),
}  # the rooms at both ends of the arrow between two packages; it is drawn from the border of one package to the other
BESIDE = {("tui", "viz"), ("lessons", "microtape")}  # the second package is drawn beside the first, not below it
BELOW = (
    ("viz", "basics"),
    [("lessons", PUBLIC), ("lessons", "proving")],
)  # the second rooms are drawn below the first, which does not import them
WIDTH = 23  # characters to a line of a box
LEGEND = (
    "A box is a folder, with the first line of its docstring. A grey arrow leads to a folder that it imports, unless",
    "a longer path does. A blue arrow stands for all imports between two packages, and names the folders.",
)

Room: TypeAlias = tuple[str, str]
Arrow: TypeAlias = tuple[Room, Room]


def room_of(module: str) -> Room:
    """The room of a module, or of a name in one."""
    package, *names = module.split(".")
    if not names or names[0] in NAMESPACES:
        return package, PUBLIC
    here = ROOT / package
    if not (here / names[0]).is_dir() and not (here / f"{names[0]}.py").is_file():
        return package, PUBLIC  # a name of the package itself
    return package, LONE_FILES.get(names[0], names[0])


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of our packages and its file."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not NOT_DRAWN & set(parts):
                yield ".".join(part for part in parts if part != "__init__"), path


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports when it is loaded, without those for type checkers or inside a function."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)


def arrows() -> set[Arrow]:
    """The imports between rooms: (importing room, imported room)."""
    every = {
        (room_of(module), room_of(other))
        for module, path in modules()
        for other in imported(path)
        if other.partition(".")[0] in PACKAGES
    }
    return {(start, end) for start, end in every if start != end}


def inside(package: str, every: Iterable[Arrow]) -> list[Arrow]:
    """The arrows inside a package, without those that a longer path implies."""
    kept = {(start, end) for start, end in every if start[0] == end[0] == package}
    for arrow in sorted(kept):
        if reaches(*arrow, kept - {arrow}):
            kept.remove(arrow)
    return sorted(kept)


def between(every: set[Arrow]) -> dict[tuple[str, str], list[str]]:
    """(importing package, imported package) -> the imported rooms."""
    found: dict[tuple[str, str], list[str]] = {}
    for target, source in sorted((end, start) for start, end in every if start[0] != end[0]):
        rooms = found.setdefault((source[0], target[0]), [])
        if target[1] not in rooms:
            rooms.append(target[1])
    return found


def reaches(start: Room, end: Room, along: Iterable[Arrow]) -> bool:
    """Whether these arrows lead from one room to another."""
    seen, waiting = {start}, [start]
    while waiting:
        room = waiting.pop()
        new = {target for source, target in along if source == room} - seen
        seen |= new
        waiting += new
    return end in seen


def purpose(room: Room) -> str:
    """What a room is for: the first line of its docstring."""
    package, name = room
    where = ROOT / package if name == PUBLIC else ROOT / package / name
    path = where / "__init__.py" if where.is_dir() else where.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].removeprefix(f"{package}: ").rstrip(".").replace("`", "")


def heading(room: Room) -> str:
    """A room's name, with the lone files that are drawn with it."""
    package, name = room
    if name == PUBLIC:
        return f"import {package}"
    beside = [file for file, owner in LONE_FILES.items() if owner == name and (ROOT / package / f"{file}.py").is_file()]
    return ", ".join((name, *(f"{file}.py" for file in beside)))


def box(room: Room) -> str:
    """The box of a room in the DOT text."""
    lines = "<br/>".join(html.escape(line) for line in textwrap.wrap(purpose(room), WIDTH))
    rows = (f"<b>{html.escape(heading(room))}</b>", f'<font point-size="10" color="{LIGHT.muted}">{lines}</font>')
    label = "".join(f"<tr><td>{row}</td></tr>" for row in rows)
    table = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="1">{label}</table>'
    return f"{node(room)} [label=<{table}>]"


def node(room: Room) -> str:
    """A room's name in the DOT text."""
    return '"' + "/".join(room) + '"'


def attributes(**values: str) -> str:
    """An attribute list in the DOT text."""
    return "[" + " ".join(f'{name}="{value}"' for name, value in values.items()) + "]"


def left_aligned(lines: Iterable[str], indent: str = "") -> str:
    """Lines of text as a label."""
    return "".join(f"{indent}{line}\\l" for line in lines)


def dot() -> str:
    """The whole picture."""
    every = arrows()
    looks = {"fontname": TEXT_FONT, "fontcolor": LIGHT.text}
    legend = {"label": left_aligned(LEGEND), "labelloc": "t", "labeljust": "l", "fontsize": "11"}
    text = [
        "digraph rooms {",
        f"graph {attributes(compound='true', ranksep='0.38', nodesep='0.2', pad='0.2', **looks, **legend)}",
        f"node {attributes(shape='box', style='rounded,filled', fillcolor='#ffffff', color=LIGHT.line, **looks)}",
        'node [margin="0.1,0.05"]',
        f"edge {attributes(color=LIGHT.line, arrowsize='0.7', fontname=TEXT_FONT, fontsize='11')}",
    ]
    for package, colour in PACKAGES.items():
        kept = inside(package, every)
        own = sorted({room_of(name) for name, _ in modules() if room_of(name)[0] == package})
        around = attributes(label=package, labeljust="c", fontsize="18", style="rounded", bgcolor=colour, color=colour)
        text += [f"subgraph cluster_{package} {{", f"graph {around}", *map(box, own)]
        text += [f"{node(start)} -> {node(end)}" for start, end in kept]
        text.append("}")
    for (source, target), names in between(every).items():
        start, end = BLUE[source, target]
        label = left_aligned(textwrap.wrap(", ".join(names).replace(PUBLIC, target), 18), "   ")
        colours = {"color": LIGHT.gradient, "fontcolor": LIGHT.gradient, "penwidth": "2"}
        clusters = {"ltail": f"cluster_{source}", "lhead": f"cluster_{target}"}
        placed = {"constraint": "false"} if (source, target) in BESIDE else {}
        blue = attributes(label=label, **colours, **clusters, **placed)
        text.append(f"{node((source, start))} -> {node((target, end))} {blue}")
    above, below = BELOW
    text += [f"{node(above)} -> {node(room)} {attributes(style='invis')}" for room in below]
    return "\n".join([*text, "}"])


def inner_names() -> list[str]:
    """Every box, and every arrow between two boxes of one package, as an SVG file names them."""
    every = arrows()
    boxes = sorted({"/".join(room_of(module)) for module, _ in modules()})
    return [*boxes, *(f"{'/'.join(start)}->{'/'.join(end)}" for one in PACKAGES for start, end in inside(one, every))]


def main() -> int:
    """Write the picture."""
    PICTURE.write_bytes(render(dot(), "svg"))
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
