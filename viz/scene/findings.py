"""What is wrong, in a picture: a line in the heading, and a row in the culprit's box. See also `viz.scene.callouts`."""

from __future__ import annotations

from collections.abc import Mapping

from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import LINE_WIDTH, Row
from viz.planning.box_plan import BoxPlan, Key

_SIGNS = {"error": "✗", "warning": "!"}


def found_in(now: Moment) -> tuple[Finding, ...]:
    """The errors and warnings in the pass that is drawn. The graph of a tensor, drawn without a recording, has none."""
    if now.recording.options.get("snapshot"):
        return ()
    here = (None, now.timeline.pass_index)
    return tuple(one for one in findings(now.recording) if one.pass_ in here and one.severity in _SIGNS)


def finding_text(now: Moment) -> str:
    """The first finding: `✗ NaN begins at div, share.py:10: 0 / 0 = nan`; empty if nothing is wrong."""
    return next((visible(f"{_SIGNS[one.severity]} {one.headline}", LINE_WIDTH) for one in found_in(now)), "")


def happened(now: Moment) -> tuple[Finding, ...]:
    """Those of them that have happened by this moment: a picture does not give away what a later step brings."""
    here = now.timeline.pass_index
    return tuple(one for one in found_in(now) if one.step is None or one.pass_ != here or one.step < now.steps_done)


def boxes_of(one: Finding, plan: BoxPlan) -> tuple[Key, ...]:
    """The boxes of a finding's culprits: of their nodes, or of a leaf that no recorded operation has used."""
    found = [plan.key_of[node] for node in one.culprits if node in plan.key_of]
    if one.node is None and one.tensor is not None:
        found += [key for of, key in plan.key_of.items() if isinstance(of, TensorRef) and of.tensor == one.tensor]
    return tuple(dict.fromkeys(found))


def mark(one: Finding) -> str:
    """`✗ NaN`: the finding's kind in a few letters."""
    return f"{_SIGNS[one.severity]} {'NaN' if one.kind == 'nan' else one.kind}"


def culprit_rows(now: Moment) -> Mapping[int, Row]:
    """The row in the box of each node that a finding names."""
    rows: dict[int, Row] = {}
    for one in happened(now):
        for node in one.culprits:
            rows.setdefault(node, Row("", mark(one), "alarm"))
    return rows
