"""The arrows of a picture: what travelled along them, and the small copies of boxes that replace long arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import Value
from microtape.recording.moments.moment import Moment
from viz.basics.graph import Arrow, ArrowKind, Box
from viz.basics.options import Detail
from viz.planning.box_plan import BoxPlan, Key, Link
from viz.planning.group_contents import GradientFlow, GroupContents
from viz.scene.ways import Ways

MOST_ARROWS = 4  # from one box; further uses get a small copy of the box instead
TERM_WIDTH = 24


def make_arrows(
    now: Moment,
    plan: BoxPlan,
    ranks: Mapping[Key, int],
    boxes: Mapping[Key, Box],
    shown: Collection[Detail],
    contents: GroupContents,
) -> tuple[list[Box], list[Arrow]]:
    """The small copies of boxes, and the arrows."""
    counts = Counter(link.tail for link in plan.links)
    again: dict[str, Box] = {}
    arrows = []
    ways = Ways(now, plan)
    for link in plan.links:
        home, head = boxes[link.tail], boxes[link.head]
        output = link.uses[0].output if link.uses else None
        tail, port = home.id, output if output is not None and output < len(home.ports) else None
        if counts[link.tail] > MOST_ARROWS and ranks[link.head] > ranks[link.tail] + 1:
            tail, port = f"{home.id}at{head.id.removeprefix('n')}", None
            title = home.title.partition(" = ")[0] if home.kind == "operation" else home.title
            again.setdefault(
                tail,
                Box(tail, "again", home.state, title, "", (), (), (f"{home.title}, drawn above",),
                    ranks[link.head] - 1, home.node, home.recorded_in, clusters=head.clusters),
            )  # fmt: skip
        kind, text = _travel(now, link, contents.flow(link))
        wrong = ways.include(link, kind, _carried(now, link, kind))
        if port is not None and len(link.uses) == 1:
            text = f"#{port} {text}".strip()
        about = _tooltip(link, kind, text, home, head)
        upwards = not link.uses and ranks[link.head] <= ranks[link.tail]
        arrows.append(Arrow(tail, port, head.id, kind, text, "terms" in shown and text != "", about, upwards=upwards,
                            wrong=wrong))  # fmt: skip
    return list(again.values()), arrows


def _travel(now: Moment, link: Link, travels: GradientFlow) -> tuple[ArrowKind, str]:
    """The arrow's kind and its text, which is the gradient that has travelled along it, if any."""
    if travels.since >= now.steps_done:
        return "absent", ""
    if travels.ended:
        return "border", "✂"
    if not travels.edges:
        return "value", "saved" if all(use.saved for use in link.uses) else _count(link)
    came = travels.came(now)
    if not came:
        return "future", _count(link)
    kind: ArrowKind = "now" if travels.came_now(now) else "done"
    if not travels.is_defined(now):
        kind = "undefined"
    if len(link.uses) > 1:
        return kind, _count(link) if came == travels.edges else f"{came} of {travels.edges}"
    (use,) = link.uses
    gone = now.travelled(use.by, use.edge or 0)
    return kind, "None" if gone is None or gone.term is None else format_value(gone.term, TERM_WIDTH)


def _carried(now: Moment, link: Link, kind: ArrowKind) -> Value | None:
    """The gradient that has travelled or, before it has, the value; None for several, or if it is not known."""
    if len(link.uses) != 1:
        return None
    (use,) = link.uses
    if kind != "future":
        gone = now.travelled(use.by, use.edge or 0)
        return gone.term if gone is not None else None
    outputs = now.recording.nodes[use.of].outputs if isinstance(use.of, int) else ()
    return now.recording.value(outputs[use.output]) if use.output < len(outputs) else None


def _count(link: Link) -> str:
    return f"×{len(link.uses)}" if len(link.uses) > 1 else ""


def _tooltip(link: Link, kind: ArrowKind, text: str, home: Box, head: Box) -> str:
    if not link.uses:
        return f"{head.title}: the history of {home.title} ends here"
    use = link.uses[0]
    if len(link.uses) > 1:
        inside = f"each repetition of {head.title} uses the one before" if link.tail == link.head else ""
        uses = inside or f"{head.title} uses {home.title} in {len(link.uses)} places"
        gradients = f"gradients {text}"
    else:
        uses = f"%{use.by} uses {home.title}{f', output {use.output}' if use.output else ''}"
        gradients = f"gradient {text}"
    away = {
        "value": "no gradient goes back here",
        "border": "it was detached before, so no gradient goes back here",
        "future": "no gradient has travelled here yet",
        "undefined": "an undefined gradient (None) travelled here: it counts as arrived, and adds nothing",
    }.get(kind, gradients)
    return f"{uses}: {away}"
