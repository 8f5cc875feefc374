"""Finds what is wrong in a recording. The findings are computed once for a recording, when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias
from weakref import finalize

import numpy as np

from microtape.basics.collector import paused
from microtape.recording.findings.failing.aliasing import written_through_a_view
from microtape.recording.findings.failing.expanded import expanded
from microtape.recording.findings.failing.failures import failures
from microtape.recording.findings.failing.growth import growing_graphs
from microtape.recording.findings.failing.no_copies import taken_for_copies
from microtape.recording.findings.failing.refused import refused
from microtape.recording.findings.failing.scalers import nothing_to_divide, wrong_order
from microtape.recording.findings.failing.shapes import wrong_shapes
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.gradients.advantages import learned_advantages
from microtape.recording.findings.gradients.cancelling import cancelling_gradients
from microtape.recording.findings.gradients.constant_terms import bare_numbers, constant_penalties
from microtape.recording.findings.gradients.derivatives import wrong_derivatives
from microtape.recording.findings.gradients.drawn import drawn_codes
from microtape.recording.findings.gradients.lost_terms import lost_terms
from microtape.recording.findings.gradients.no_gradient import no_gradient
from microtape.recording.findings.gradients.penalties import one_norm_for_all
from microtape.recording.findings.gradients.results import results_without
from microtape.recording.findings.gradients.returned import gradients_of_functions
from microtape.recording.findings.gradients.scale import vanishing_and_exploding
from microtape.recording.findings.gradients.single_numbers import norms_of_single_numbers
from microtape.recording.findings.gradients.steep import steep_slopes
from microtape.recording.findings.gradients.sums import wrong_sums
from microtape.recording.findings.gradients.targets import learning_targets
from microtape.recording.findings.gradients.wasted_terms import wasted_terms
from microtape.recording.findings.gradients.zeros import zero_gradients
from microtape.recording.findings.program import Program
from microtape.recording.findings.sequences.answers import seen_answers
from microtape.recording.findings.sequences.attention import attention
from microtape.recording.findings.sequences.batches import batch_for_time
from microtape.recording.findings.sequences.directions import directions_of_positions
from microtape.recording.findings.sequences.masks import masks_of_zeros
from microtape.recording.findings.sequences.paddings import counted_paddings
from microtape.recording.findings.statements.attributes import set_in_vain
from microtape.recording.findings.statements.lost_results import lost_results
from microtape.recording.findings.statements.own_backward import never_asked_for
from microtape.recording.findings.statements.rebound import rebound_in_vain
from microtape.recording.findings.statements.same_module import loads_itself
from microtape.recording.findings.statements.same_tensor import added_to_itself
from microtape.recording.findings.statements.uncalled import never_called
from microtape.recording.findings.statements.used_up import used_up
from microtape.recording.findings.training.anew import made_anew
from microtape.recording.findings.training.clipped_sums import clipped_in_parts
from microtape.recording.findings.training.clipping import clipped_in_vain
from microtape.recording.findings.training.discarded import discarded_gradients
from microtape.recording.findings.training.eval_mode import (
    drops_in_any_mode,
    left_in_eval_mode,
    never_in_training_mode,
)
from microtape.recording.findings.training.forgetting import forgetful_optimizers
from microtape.recording.findings.training.idle import (
    faded_steps,
    idle_steps,
    never_stepped,
    steps_without_gradients,
    strange_steps,
)
from microtape.recording.findings.training.leftovers import left_by_another_loss
from microtape.recording.findings.training.one_memory import one_memory
from microtape.recording.findings.training.piled_hooks import piled_hooks
from microtape.recording.findings.training.repeated_steps import repeated_steps
from microtape.recording.findings.training.replaced import replaced_leaves
from microtape.recording.findings.training.resets import never_reset
from microtape.recording.findings.training.scaled import steps_without_scaler
from microtape.recording.findings.training.shared_layers import shared_layers
from microtape.recording.findings.training.stale import stale_steps
from microtape.recording.findings.training.symmetry import identical_units
from microtape.recording.findings.training.twice_given import twice_given
from microtape.recording.findings.training.updating import large_updates
from microtape.recording.findings.values.bounded import bounded_scores
from microtape.recording.findings.values.broadcasting import unmeant_broadcasts
from microtape.recording.findings.values.divergences import scores_for_divergences
from microtape.recording.findings.values.likelihoods import rates_for_logarithms, variances_of_zero
from microtape.recording.findings.values.loss_targets import unfit_targets
from microtape.recording.findings.values.not_finite import not_finite
from microtape.recording.findings.values.out_of_reach import targets_out_of_reach
from microtape.recording.findings.values.pairing import averaged_before_weighted
from microtape.recording.findings.values.picking import gathered_along_the_batch, picked_by_all_labels
from microtape.recording.findings.values.probabilities import (
    probabilities_for_scores,
    scores_for_logarithms,
    wrong_dimension,
)
from microtape.recording.findings.values.repeated_indices import added_once
from microtape.recording.findings.values.reshaping import reshaped_for_transposed
from microtape.recording.findings.values.similarities import similarities_with_itself
from microtape.recording.model.model import Recording
from microtape.recording.writing.faults import described, was_raised_by_a_signal

_Detector: TypeAlias = Callable[[Program], Iterator[Finding]]
_DETECTORS: tuple[_Detector, ...] = (
    never_called, never_asked_for, rebound_in_vain, set_in_vain, lost_results, used_up, loads_itself, failures, refused,
    expanded, wrong_shapes, wrong_sums, not_finite, wrong_derivatives, replaced_leaves, made_anew, no_gradient,
    constant_penalties, bare_numbers, lost_terms, drawn_codes, wasted_terms, one_norm_for_all, added_to_itself,
    results_without, gradients_of_functions, never_reset, left_by_another_loss, discarded_gradients, strange_steps,
    stale_steps, twice_given, idle_steps, faded_steps, never_stepped, steps_without_gradients, norms_of_single_numbers,
    zero_gradients, cancelling_gradients, identical_units, shared_layers, left_in_eval_mode, never_in_training_mode,
    drops_in_any_mode, clipped_in_vain, clipped_in_parts, steps_without_scaler, repeated_steps, forgetful_optimizers,
    written_through_a_view, taken_for_copies, one_memory, unmeant_broadcasts, batch_for_time, picked_by_all_labels,
    gathered_along_the_batch, added_once, averaged_before_weighted, reshaped_for_transposed, directions_of_positions,
    probabilities_for_scores, wrong_dimension, scores_for_logarithms, scores_for_divergences, rates_for_logarithms,
    variances_of_zero, unfit_targets, seen_answers, counted_paddings, similarities_with_itself, bounded_scores,
    targets_out_of_reach, attention, masks_of_zeros, learning_targets, learned_advantages, growing_graphs, piled_hooks,
    vanishing_and_exploding, steep_slopes, large_updates, nothing_to_divide, wrong_order,
)  # fmt: skip
_NOT_YOURS = "The program is not to blame. All else that was found stands."
_REPORT = "Report it with these lines and, if you can, with the recording: microtape record writes it."
_SEVERITIES = ("error", "warning", "notice")
_known: dict[int, tuple[Finding, ...]] = {}  # by the id of a recording that exists: recordings have no hash


def findings(recording: Recording) -> tuple[Finding, ...]:
    """The findings of a recording: errors, then warnings, then notices; of these, those first that explain others."""
    found = known_findings(recording)
    if found is None:
        found = _known[id(recording)] = _find(recording)
        finalize(recording, _known.pop, id(recording), None).atexit = False
    return found


def known_findings(recording: Recording) -> tuple[Finding, ...] | None:
    """The findings of a recording if they have been computed, else None."""
    return _known.get(id(recording))


def _find(recording: Recording) -> tuple[Finding, ...]:
    with paused():
        program = Program(recording)
        with np.errstate(all="ignore"):  # what numpy would warn of is in the recording, and nobody computes it now
            found = [one for detector in _DETECTORS for one in _found_by(detector, program)]
    causes = {one.place for one in found if one.kind == "replaced"}
    found = [one for one in found if one.kind not in ("refused", "no gradient") or one.place not in causes]
    if any(one.kind in ("wrong sum", "wrong shape") for one in found):
        found = [one for one in found if one.kind != "accumulated"]  # which takes for granted that .grad is a sum
    missed = {one.tensor for one in found if one.kind == "no update" and one.severity == "error"}
    found = [one for one in found if (one.kind, one.severity) != ("accumulated", "notice") or one.tensor not in missed]
    told = {one.place for one in found if one.kind == "no gradient"}  # the leaves that lack it say more
    found = [one for one in found if one.kind != "missing gradient" or one.place not in told]
    return tuple(sorted(_diverged_first(found), key=lambda one: _SEVERITIES.index(one.severity)))


def _found_by(detector: _Detector, program: Program) -> Iterator[Finding]:
    """What a detector finds; a notice, if it fails: the program must not notice, and the other findings stay."""
    try:
        yield from detector(program)
    except Exception as error:
        if was_raised_by_a_signal(error):
            raise
        lines = (f"The search for {detector.__name__.replace('_', ' ')} failed: {described(error)}.", _NOT_YOURS)
        yield Finding(
            "fault", "notice", "Not everything could be looked for: a fault of microtape", lines, _REPORT, None
        )


def _diverged_first(found: list[Finding]) -> list[Finding]:
    """An update with which a leaf diverges is the cause of numbers that grow or overflow in a later pass."""
    for cause in found:
        if cause.kind == "large update" and cause.severity == "warning" and cause.pass_ is not None:
            later = {one.kind for one in found if one.pass_ is not None and one.pass_ > cause.pass_}
            others = [one for one in found if one is not cause]
            if later & {"nan", "infinity"}:
                return [cause._replace(severity="error"), *others]
            if "exploding" in later:
                return [cause, *others]
    return found
