"""The arrays in which NaN or infinity begins. A file keeps them whole, so that findings can name the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.not_finite import not_finite
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.model.model import Recording, Value


def arrays_where_bad_numbers_begin(recording: Recording) -> Iterator[Value | None]:
    """What went into each operation in which NaN or infinity begins, and what came out; or its gradients."""
    for finding in not_finite(Program(recording)):
        if finding.node is None or finding.pass_ is None:
            continue
        node = recording.nodes[finding.node]
        refs = [*operand_refs(node), *(ref for ref in node.outputs if ref is not None)]
        yield from map(recording.value, refs)
        if finding.step is not None:
            step = recording.passes[finding.pass_].steps[finding.step]
            yield from step.grad_outputs
            yield from [one.term for one in step.deliveries]
