"""Makes Graphviz's SVG accessible: gives it meaningful titles, and removes the links that lead nowhere.

Graphviz uses a node's name in the DOT text as its title, and puts the tooltip into a link around it. Here the tooltip
becomes the title, which browsers show under the mouse and screen readers read out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
TITLE, GROUP, LINK = f"{{{SVG}}}title", f"{{{SVG}}}g", f"{{{SVG}}}a"

ElementTree.register_namespace("", SVG)


def read_svg(svg: str, titles: Mapping[str, str]) -> ElementTree.Element:
    """The picture as a tree: groups with these ids get these titles, other groups get none."""
    root = ElementTree.fromstring(svg)
    root.set("role", "img")
    root.set("aria-label", titles.get("graph0", ""))
    for group in list(root.iter(GROUP)):
        _unwrap(group)
        for title in group.findall(TITLE):
            group.remove(title)
        if text := titles.get(group.get("id", "")):
            title = ElementTree.Element(TITLE)
            title.text, title.tail = text, "\n"
            group.insert(0, title)
    return root


def write_svg(root: ElementTree.Element) -> str:
    """The tree as a document."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def groups(root: ElementTree.Element) -> Iterator[tuple[str, ElementTree.Element]]:
    """The groups that have an id, with that id."""
    return ((group.get("id", ""), group) for group in root.iter(GROUP) if group.get("id"))


def _unwrap(group: ElementTree.Element) -> None:
    """Move the content of links, and of groups that contain only a link, into the group itself."""
    inside: list[ElementTree.Element] = []
    for one in group:
        link = one if one.tag == LINK else one.find(LINK) if one.tag == GROUP and len(one) == 1 else None
        inside += [one] if link is None else list(link)
    group[:] = inside
