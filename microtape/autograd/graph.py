"""torch's `autograd.graph` namespace: the graph's nodes and edges."""

from microtape.differentiate import GradientEdge, get_gradient_edge
from microtape.node import Node

__all__ = ["GradientEdge", "Node", "get_gradient_edge"]
