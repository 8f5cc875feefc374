"""The rows of the tape that stand for no node: which there are, and where."""

from hypothesis import given

import microtape as mt
from tests.support.recordings.random_recordings import recordings
from tui.time.event_rows import FEW, EndRow, WriteRow, event_rows
from tui.time.listing import Listing
from tui.time.timeline import Timeline


def recorded(run):
    with mt.record() as recorder:
        run()
    return recorder.recording


def listed(recording, pass_index=0):
    """The tape in short: the op of a node, `write 0-1` or `end i`."""
    timeline = Timeline(recording, pass_index)
    found = []
    for entry in Listing.of(timeline).entries:
        if isinstance(entry, WriteRow):
            found.append(" ".join(f"write {one.before}-{one.after}" for one in entry.writes))
        elif isinstance(entry, EndRow):
            found.append(f"end {recording.tensors[entry.ref.tensor].name}")
        else:
            found.append(timeline.node(entry).op)
    return found


def leaf(*numbers):
    return mt.tensor([float(one) for one in numbers], requires_grad=True)


def test_a_write_stands_below_its_node_and_one_without_a_node_where_it_happened():
    def run():
        w, buffer = leaf(1, 2), mt.tensor([1.0, 1.0])
        x = w + buffer
        buffer.zero_()
        x.add_(1)
        x.sum().backward()

    recording = recorded(run)
    assert listed(recording) == ["accumulate", "add", "write 0-1", "add", "write 0-1", "sum"]


def test_an_update_between_two_passes_belongs_to_the_second_and_one_after_the_last_to_none():
    def run():
        w = leaf(1, 2)
        for _ in range(2):
            (w * w).sum().backward()
            with mt.no_grad():
                w -= 0.1 * w.grad

    recording = recorded(run)
    assert [len(recording.borders), len(recording.updates)] == [2, 2]
    assert listed(recording, 0) == ["accumulate", "mul", "sum"]
    assert listed(recording, 1) == ["accumulate", "write 0-1", "mul", "sum"]


def test_an_update_before_the_pass_belongs_to_it():
    def run():
        w = leaf(1, 2)
        loss = (w + w).sum()
        with mt.no_grad():
            w.mul_(2)
        loss.backward()

    assert listed(recorded(run)) == ["accumulate", "add", "sum", "write 0-1"]


def test_many_updates_in_a_row_are_one_row():
    def run():
        weights = [leaf(1, 2) for _ in range(FEW + 1)]
        for _ in range(2):
            sum((w * w).sum() for w in weights).backward()
            with mt.no_grad():
                for w in weights:
                    w -= 0.1 * w.grad

    recording = recorded(run)
    assert listed(recording, 1).count(" ".join(["write 0-1"] * (FEW + 1))) == 1


def test_a_path_is_drawn_to_its_end():
    with mt.record() as recorder:
        x = leaf(3, 1) * 2
        best = x.argmax()
        ordered, order = x.sort()
        ordered.sum().backward()
    assert best == order[-1] == 0
    listing = Listing.of(Timeline(recorder.recording))
    assert listed(recorder.recording) == ["accumulate", "mul", "end best", "sort", "end order", "sum"]
    drawn = [listing.lanes.draw(row)[0].rstrip() for row in range(len(listing.entries))]
    assert drawn == ["○", "●", "├─×", "●─╮", "│ ×", "●"]


def test_a_tape_without_events_is_its_nodes():
    timeline = Timeline(recorded(lambda: leaf(1).sum().backward()))
    assert event_rows(timeline) == {}
    assert Listing.of(timeline).entries is timeline.rows


@given(recordings())
def test_any_recording_can_be_listed_and_every_node_is_there_once(recording):
    for index in range(max(len(recording.passes), 1)):
        timeline = Timeline(recording, index)
        listing = Listing.of(timeline)
        assert tuple(one for one in listing.entries if isinstance(one, int)) == tuple(timeline.rows)
        for row in range(len(listing.entries)):
            drawn, at = listing.lanes.draw(row)
            assert 0 <= at <= len(drawn)
