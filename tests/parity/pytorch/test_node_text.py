"""The short words for torch's nodes are the names of torch's functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAMES = {
    "MaxPool2DWithIndicesBackward0": "max_pool2d",
    "NativeLayerNormBackward0": "layer_norm",
    "NativeBatchNormBackward0": "batch_norm",
    "UnsafeViewBackward0": "view",
    "ReshapeAliasBackward0": "reshape",
    "ToCopyBackward0": "to",
    "IndexPutImplBackward0": "index_put",
    "ScaledDotProductFlashAttentionForCpuBackward0": "scaled_dot_product_attention",
    "ThnnFusedLstmCellBackward0": "lstm_cell",
    "AliasBackward0": "alias",
    "NllLoss2DBackward0": "nll_loss2d",
    "SmoothL1LossBackward0": "smooth_l1_loss",
    "Log1PBackward0": "log1p",
    "Deg2RadBackward0": "deg2rad",
    "UpsampleBicubic2DAaBackward0": "upsample_bicubic2d_aa",
    "AdaptiveAvgPool2DBackwardBackward0": "adaptive_avg_pool2d_backward",
    "ViewBackward0_copy": "view",
    "SumBackwardAutogradNestedTensor0": "sum",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_node_has_the_name_of_its_function(name: str) -> None:
    from microtape.recording.pytorch.node_text import about_dropped

    assert about_dropped(name).op == NAMES[name]


def test_a_formula_stands_once() -> None:
    from microtape.recording.pytorch.formulas import FORMULAS
    from microtape.recording.pytorch.node_text import _formulas

    assert FORMULAS.keys() & _formulas().keys() == set()


def test_formulas_do_not_depend_on_what_has_run_before() -> None:
    names = ["TBackward1", "TransposeBackward1", "UnsqueezeBackward1", *[f"SqueezeBackward{n}" for n in range(6)]]
    program = "from microtape.recording.pytorch.node_text import about_dropped; "
    program += f"print([name for name in {names} if not about_dropped(name).formula])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_word_with_a_digit_is_the_name_of_an_operator() -> None:
    import torch

    from microtape.recording.pytorch.node_text import about_dropped

    operators = {one.partition("::")[2].partition(".")[0].lstrip("_") for one in torch._C._dispatch_get_all_op_names()}
    words = {about_dropped(name).op for name in dir(torch._C._functions) if "Backward" in name}
    unknown = {word for word in words - operators if any(letter.isdigit() for letter in word)}
    assert {word for word in unknown if not word.startswith(("grid_sampler", "slow_conv2d"))} == set()


def test_an_operator_of_the_program_has_its_own_name_and_arguments() -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    with torch.library._scoped_library("tests_of_names", "DEF"):

        def backward(ctx, gradient):
            return 2 * gradient

        doubled = torch.library.custom_op("tests_of_names::doubled", mutates_args=(), schema="(Tensor x) -> Tensor")(
            lambda x: x * 2
        )
        doubled.register_autograd(backward)
        with TorchRecorder() as recorder:
            doubled(torch.ones(2, requires_grad=True)).sum().backward()
    node = next(one for one in recorder.recording.nodes if one.kind == "function")
    assert (node.op, len(node.operands)) == ("doubled", 1)
    assert node.name == "GeneratedBackwardFor_tests_of_names_doubled_defaultBackward"
    assert [(one.kind, one.node) for one in recorder.recording.calls] == [("backward", node.id)]


def test_an_overload_is_no_part_of_a_name() -> None:
    import torch

    from microtape.recording.pytorch.calls.function_kinds import WRITES, called_name, kind_of, word_of

    assert word_of(torch.ops.aten.relu.default) == called_name(torch.ops.aten.relu.default) == "relu"
    assert kind_of(torch.ops.aten.add_.Tensor) == WRITES
