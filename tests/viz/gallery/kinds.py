"""The kinds of program whose pictures are measured, and how each is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from microtape.recording.model.model import Recording
from tests.programs.corpus import ROOT, recorded


class Kind(NamedTuple):
    """A program and how to draw it; `options` are those of `viz.draw`."""

    name: str
    program: Path
    options: dict[str, Any]

    def recording(self) -> Recording:
        """All passes of the program."""
        return recorded(self.program)


def _kind(name: str, program: str, **options: Any) -> Kind:
    return Kind(name, ROOT / program, options)


EXAMPLES, HEALTHY, BROKEN = "microtape/examples", "tests/programs/healthy", "tests/programs/broken"

KINDS = (
    _kind("example", f"{EXAMPLES}/example.py"),
    _kind("half_way", f"{EXAMPLES}/diamond.py", step=3),
    _kind("linear", f"{EXAMPLES}/linear.py"),
    _kind("mlp", f"{EXAMPLES}/mlp.py"),
    _kind("rnn", f"{EXAMPLES}/rnn.py"),
    _kind("rnn_step_20", f"{EXAMPLES}/rnn.py", step=20),
    _kind("neighbourhood", f"{EXAMPLES}/rnn.py", around="guess"),
    _kind("in_place_error", f"{EXAMPLES}/in_place_error.py"),
    _kind("nan", f"{EXAMPLES}/nan_gradient.py", step=3),
    _kind("several_outputs", f"{EXAMPLES}/several_outputs.py"),
    _kind("inside", f"{EXAMPLES}/several_outputs.py", into="clipped"),
    _kind("dirty", f"{EXAMPLES}/dirty.py"),
    _kind("returned_view", f"{EXAMPLES}/returned_view.py"),
    _kind("wrong_function", f"{EXAMPLES}/wrong_function.py"),
    _kind("clip_hooks", f"{EXAMPLES}/clip_hooks.py"),
    _kind("checkpointed", f"{EXAMPLES}/checkpointed.py"),
    _kind("training", f"{EXAMPLES}/training.py", pass_index=2),
    _kind("gradient_penalty", f"{EXAMPLES}/gradient_penalty.py", pass_index=1),
    _kind("border", "docs/programs/border.py"),
    _kind("view", "docs/programs/view.py"),
    _kind("outputs", "docs/programs/outputs.py"),
    _kind("heat", "docs/programs/layers.py", show=("values", "gradients", "heat", "legend")),
    _kind("adversaries", f"{EXAMPLES}/modules/adversaries.py"),
    _kind("attention", f"{EXAMPLES}/modules/attention.py"),
    _kind("autoencoder", f"{EXAMPLES}/modules/autoencoder.py"),
    _kind("classifier", f"{EXAMPLES}/modules/classifier.py"),
    _kind("images", f"{EXAMPLES}/modules/images.py"),
    _kind("letters", f"{EXAMPLES}/modules/letters.py"),
    _kind("causal_attention", f"{HEALTHY}/causal_attention.py"),
    _kind("batch_norm", f"{HEALTHY}/batch_norm.py"),
    _kind("experts", f"{HEALTHY}/experts.py"),
    _kind("gan", f"{HEALTHY}/forger_and_police.py"),
    _kind("gated_depth", f"{HEALTHY}/gated_depth.py"),
    _kind("inner_loop", f"{HEALTHY}/inner_loop.py"),
    _kind("newton", f"{HEALTHY}/newton.py"),
    _kind("policy_gradient", f"{HEALTHY}/policy_gradient.py"),
    _kind("deep_relu", f"{BROKEN}/deep_relu.py"),
    _kind("diary_rnn", f"{BROKEN}/diary_rnn.py"),
    _kind("encoder", f"{BROKEN}/encoder.py"),
    _kind("residual_block", f"{BROKEN}/residual_block.py"),
    _kind("tall_stack", f"{BROKEN}/tall_stack.py"),
    _kind("two_heads", f"{BROKEN}/two_heads.py"),
)
