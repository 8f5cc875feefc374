"""torch's `autograd.graph` namespace: nodes and edges, hooks on several tensors, hooks on saved tensors."""

from microtape.tape.node import Node
from microtape.tensors.differentiate import GradientEdge, get_gradient_edge
from microtape.transforms.graph import increment_version, register_multi_grad_hook
from microtape.transforms.saved_copy_on_write import allow_mutation_on_saved_tensors
from microtape.transforms.saved_hooks import disable_saved_tensors_hooks, save_on_cpu, save_on_disk, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "save_on_disk",
    "saved_tensors_hooks",
]
