"""Writes in place in words: in the rows of the tape, in the node pane, and version by version."""

import pytest

import microtape as mt
from tests.support.recordings import in_place
from tui.shell.spans import plain
from tui.time.cursor import StepCursor
from tui.time.event_rows import EndRow, WriteRow
from tui.time.listing import Listing
from tui.time.row_texts import RowTexts
from tui.words.event_rows import event_line
from tui.words.pane_texts import PaneTexts
from tui.words.trace import trace, trace_forward
from tui.words.versions import tensors_at, uncounted, versions_told, view_of, whose_memory


def events(recording, pass_index=0, *, position=None, width=120, value=0):
    """What the rows of events say."""
    cursor = StepCursor.open(recording, pass_index).end()
    cursor = cursor if position is None else cursor.to_moment(position)
    rows = RowTexts(cursor.timeline)
    return [
        plain(event_line(cursor, rows, entry, width, value))
        for entry in Listing.of(cursor.timeline).entries
        if isinstance(entry, WriteRow | EndRow)
    ]


def told(recording, name, width=80):
    cursor = StepCursor.open(recording).end()
    tensor = next(one.id for one in recording.tensors if one.name == name)
    return [[plain(one).rstrip() for one in version.lines] for version in versions_told(cursor, tensor, width)]


def line_of(recording, op):
    return next(one.place.line for one in recording.nodes if one.op == op)


def test_a_write_says_who_will_miss_the_old_value():
    recording = in_place.missed()
    line = line_of(recording, "sin")
    assert events(recording) == [f"version 0 → 1, [2, 4] → [3, 5], saved by sin (line {line}), which will miss it"]
    assert events(recording, width=60) == [f"version 0 → 1, saved by sin (line {line}), which will miss it"]
    assert events(recording, value=30) == events(recording, width=60)  # the row above says it


def test_values_are_told_once_they_are_there():
    recording = in_place.missed()
    assert "[3, 5]" not in events(recording, position=2)[0]
    assert "[3, 5]" in events(recording, position=3)[0]


def test_a_function_that_writes_counts_from_before_its_call():
    recording = in_place.dirty()
    first, mask, best = events(recording)
    assert first == "version 0 → 2, [-4, 1, 6] → [-3, 2, 7], saved by nobody"
    assert mask.startswith(
        "inside  [False, True, False]  no gradient: marked by mark_non_differentiable at in_place.py:"
    )
    assert best == "best = argmax(z)  2  no gradient: an argmax has no derivative"


def test_an_update_says_how_it_was_written():
    by_hand, aliased = events(in_place.update(), 1)
    assert by_hand.startswith("w: sub_ in no_grad, in_place.py:")
    assert ", version 0 → 1, [1, 2] → [0, 0], saved by mul (line " in by_hand
    assert by_hand.endswith("), which had used it before")
    assert aliased.startswith("w, through bare: add_, in_place.py:")
    assert aliased.endswith(", version 1 → 2, [0, 0] → [3, 3], saved by nobody")


def test_detaching_in_place_is_an_event_that_writes_nothing():
    with mt.record() as recorder:
        w = mt.tensor(2.0, requires_grad=True)
        h = w.exp()
        h.detach_()
        (w * h).backward()
    (text,) = events(recorder.recording)
    assert text.startswith("h: detach_ ends its history, no value written, test_versions.py:")


def test_the_versions_of_a_tensor_tell_who_made_saved_and_read_each():
    recording = in_place.missed()
    mul, sin, add = (line_of(recording, op) for op in ("mul", "sin", "add"))
    assert told(recording, "x") == [
        [f"v0   mul (line {mul})  [2, 4]", f"     saved by sin (line {sin}), will miss it; read by sin (line {sin})"],
        [f"v1   add_ (line {add})  [3, 5]", f"     saved by nobody; read by add (line {add + 2})"],
    ]


def test_in_a_narrow_page_readers_have_a_line_of_their_own():
    assert [len(one) for one in told(in_place.missed(), "x", 48)] == [3, 2]


def test_a_version_says_through_what_it_was_written():
    assert [one[0].partition("  [")[0] for one in told(in_place.through_a_view(), "x")] == [
        f"v0   mul (line {line_of(in_place.through_a_view(), 'mul')})",
        f"v1   mul_ (line {line_of(in_place.through_a_view(), 'mul into view')}, through v)",
        f"v2   copy_ (line {line_of(in_place.through_a_view(), 'copy into view')}, through x[0])",
    ]
    assert "(line " in told(in_place.update(), "w")[1][0]
    assert "no_grad)" in told(in_place.update(), "w")[1][0]
    assert "through bare)" in told(in_place.update(), "w")[2][0]
    assert "AddOne (line" in told(in_place.dirty(), "y")[1][0]
    assert "mark_dirty)" in told(in_place.dirty(), "y")[1][0]


@pytest.mark.parametrize(
    ("make", "name", "whose"),
    [
        (in_place.through_a_view, "v", "a view of x"),
        (in_place.through_a_view, "x", ""),
        (in_place.update, "bare", "detached from w: the same memory"),
    ],
)
def test_a_view_says_whose_memory_it_is(make, name, whose):
    recording = make()
    tensor = next(one.id for one in recording.tensors if one.name == name)
    assert view_of(StepCursor.open(recording), tensor) == whose


def test_a_memory_names_those_who_share_it():
    recording = in_place.through_a_view()
    cursor = StepCursor.open(recording)
    by_name = {one.name: one.id for one in recording.tensors}
    assert [plain(one) for one in whose_memory(cursor, by_name["x"])] == ["x shares its memory with v"]
    assert [plain(one) for one in whose_memory(cursor, by_name["v"])] == [
        "v is a view of x. Writes to either count here."
    ]


def test_the_node_pane_says_whose_memory_was_written_and_what_was_recorded_again():
    recording = in_place.through_a_view()
    node = next(one for one in recording.nodes if one.op == "mul into view")
    cursor = StepCursor.open(recording).goto_node(node.id)
    forward = [plain(one) for one in PaneTexts(cursor).operation(node)]
    assert "wrote    version 0 → 1, saved by nobody" in forward
    view = [
        "view     v is a view of x, so the write is to x, which gets a new history",
        "         backward sends the view's part of the gradient through mul, the rest straight on; "
        f"%{node.id + 1} records the view anew",
    ]
    assert [one for one in forward if one in view] == view
    backward = [plain(one) for one in PaneTexts(cursor.end().goto_node(node.id)).node()]
    assert [one for one in backward if one in view] == view
    made = next(one for one in recording.nodes if one.op == "slice")
    assert "result   [2, 3]   a view of x" in [plain(one) for one in PaneTexts(cursor).operation(made)]


def test_outputs_without_a_gradient_say_why_in_the_pane_and_in_the_trace():
    recording = in_place.dirty()
    node = next(one for one in recording.nodes if one.op == "Clip")
    cursor = StepCursor.open(recording).end()
    marked = "inside  [False, True, False]   non-differentiable (mark_non_differentiable)"
    assert marked in "\n".join(plain(one) for one in PaneTexts(cursor).operation(node))
    pane = PaneTexts(cursor.goto_node(node.id)).node()
    assert any("inside  zeros: non-differentiable" in plain(one) for one in pane)
    printed = "\n".join(trace(recording, width=140))
    assert "× inside  [False, True, False]  no gradient: marked by mark_non_differentiable" in printed
    assert "version 0 → 2" in printed
    assert "wrote    version 0 → 2, saved by nobody" in "\n".join(trace_forward(cursor))


def test_the_tensors_of_a_node_begin_with_those_that_were_written_to():
    recording = in_place.missed()
    cursor = StepCursor.open(recording)
    names = [
        [recording.tensors[one].name for one in tensors_at(cursor, node.id)]
        for node in recording.nodes
        if node.op in ("accumulate", "mul", "sin")
    ]
    assert names == [["w"], ["x", "w"], ["x", "y"]]


def test_a_write_through_data_is_told_with_a_warning():
    with mt.record() as recorder:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            (w * w).sum().backward()
            w.data -= 0.1 * w.grad
    cursor = StepCursor.open(recorder.recording)
    (told,) = [plain(one) for one in uncounted(cursor, 0)]
    assert told.startswith("w was written to 2 times, test_versions.py:")
    assert told.endswith(", which no version counts; backward cannot notice it")
    assert list(uncounted(StepCursor.open(in_place.update()), 0)) == []


def test_the_step_of_an_optimiser_is_named_as_such():
    def program():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        optimizer = mt.optim.AdamW([w], lr=0.5, weight_decay=0.0)
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()

    (row,) = events(mt.record(program), 1, value=30)
    assert row.startswith("w: AdamW.step in no_grad, version 0 → 1, [1, 2] → [0.5, 1.5]")


def test_a_step_and_a_loaded_state_are_a_row_each_at_the_user_s_line():
    model = mt.nn.Sequential(mt.nn.Linear(2, 3), mt.nn.Linear(3, 1))
    saved = {name: one.clone() for name, one in model.state_dict().items()}
    optimizer = mt.optim.SGD(model.parameters())
    with mt.record() as recorder:
        model(mt.ones(4, 2)).sum().backward()
        optimizer.step()
        model.load_state_dict(saved)
        model(mt.ones(4, 2)).sum().backward()
    for op, said in zip(("SGD.step", "load_state_dict"), events(recorder.recording, 1, width=200), strict=True):
        assert said.startswith(
            f"{op} wrote 4 tensors in place: model.0.weight, model.0.bias, model.1.weight and model.1."
        )
    begin = test_a_step_and_a_loaded_state_are_a_row_each_at_the_user_s_line.__code__.co_firstlineno
    makers = [version[0].split(", no_grad")[0] for version in told(recorder.recording, "model.0.bias", 100)]
    assert makers[-2:] == [f"v2   SGD.step (line {begin + 6}", f"v3   load_state_dict (line {begin + 7}"]
