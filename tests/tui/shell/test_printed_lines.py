"""What a program prints unseen is read bit by bit, and only its last lines are kept."""

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tui.shell.printed_lines import MOST, PrintedLines


def printed(path: Path, *pieces: bytes) -> PrintedLines:
    path.write_bytes(b"")
    lines = PrintedLines(path)
    for piece in pieces:
        with path.open("ab") as file:
            file.write(piece)
        lines.follow()
    return lines


def test_escape_sequences_and_overwritten_progress_are_left_out(tmp_path: Path) -> None:
    text = b"\x1b[31mred\x1b[0m\n 10 %\r 90 %\r100 %\n\x1b]0;title\x07plain\ttext\r\n"
    assert printed(tmp_path / "output", text).last == ["red", "100 %", "plain   text"]


def test_a_line_that_is_being_written_counts_too(tmp_path: Path) -> None:
    lines = printed(tmp_path / "output", b"name? ")
    assert lines.last == ["name? "]
    assert lines.count == 0


def test_of_many_lines_the_last_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    lines = printed(tmp_path / "output", b"".join(b"%d\n" % i for i in range(3 * MOST)))
    assert lines.count == 3 * MOST
    assert lines.last == [str(i) for i in range(2 * MOST, 3 * MOST)]


def test_nothing_has_been_printed(tmp_path: Path) -> None:
    lines = PrintedLines(tmp_path / "output")
    lines.follow()
    assert lines.last == []


@given(st.text(st.characters(exclude_categories=["C"]), max_size=30), st.lists(st.integers(0, 60), max_size=3))
def test_the_pieces_in_which_it_arrives_do_not_matter(tmp_path_factory, text: str, cuts: list[int]) -> None:
    data = text.replace("x", "\n").encode()
    at = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(at)]
    path = tmp_path_factory.mktemp("printed") / "output"
    whole, parts = printed(path, data), printed(path, *pieces)
    assert (whole.last, whole.count) == (parts.last, parts.count)
