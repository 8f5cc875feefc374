"""What each view and pane shows, in words, for who presses F1 there."""

from __future__ import annotations

EXPLAINED = {
    "tape": (
        "The tape. One row a node, in the order in which your program ran; backward goes up. The lines on the "
        "left are values that are still needed: from the operation that makes one down to its last use. "
        "Bright rows are past, dim ones are to come. A value stands there once it was computed, a gradient as "
        "soon as its first term has come: 6 (1/2) is the sum of one of two terms. An array that is too long for its "
        "column is told by mean ± standard deviation. Click a row to go to its step, left of it to stop there, ◆."
    ),
    "boxes": (
        "The graph. A box is a node, a line is a value on its way from what computed it to what uses it; "
        "gradients go the other way, up. ∂ is the gradient so far, = the value. Of a large graph you see the "
        "neighbourhood of the current node. Click a box to go to its step; < and > scroll."
    ),
    "node": (
        "The node whose step this is. rule: what it computes, and its derivatives. came in: the gradient it "
        "took out of its buffer. kept: what its forward saved for now, with its version, which an in-place "
        "write would change. sends: the rule with this step's numbers, to whom, and the sum that is there "
        "then. {array} shows the numbers as a table; click a node's name to go to its step."
    ),
    "source": (
        "Your program. The part that this node computed is marked; where a step failed, the lines that saved "
        "and that overwrote a value are marked too. Click a line to go to its next step, its number to stop "
        "there, ◆. {edit} opens the line in your editor."
    ),
    "leaves": (
        "The tensors that backward is for. .grad stays what it was until every term has come and the leaf's "
        "own step (AccumulateGrad) adds the sum to it: none yet, 1 of 3 terms, complete. Click one to go to "
        "that step."
    ),
    "engine": (
        "What backward knows. ready: nodes that wait for nothing more, the next one first; leaves first, then "
        "the one that was recorded last. waiting: nodes with something in their buffer that need more terms."
    ),
    "watch": (
        "What you watch, as it is now, and the steps at which it changes; below, your breakpoints and where "
        "they stop. {ask('watch')} and {ask('break at')} set them, the same again takes "
        "them away, {stops} lists them all."
    ),
    "sentence": ("What this step did and why, in words, with its numbers."),
}
"""By the widget's id."""
