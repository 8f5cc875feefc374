"""Styled text: wrapping it loses no word and never overflows."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.widgets.lines.styled_text import TextSegment, plain, restyled, wrap

TEXTS = st.lists(
    st.builds(TextSegment, st.text("ab × 漢-", max_size=30), st.sampled_from(["", "bold"])), max_size=6
).map(tuple)


def test_what_fits_is_left_alone():
    text = (TextSegment("two "), TextSegment("words", "bold"))
    assert wrap(text, 9) == [text]


def test_rows_break_between_words_and_hang():
    text = (TextSegment("kept     "), TextSegment("x = 3", "bold"), TextSegment(" and y = 5"))
    assert [plain(row) for row in wrap(text, 14, hanging=4)] == ["kept     x = 3", "    and y = 5"]


def test_a_word_that_is_too_long_is_cut():
    assert [plain(row) for row in wrap((TextSegment("abcdefgh ij"),), 4)] == ["abcd", "efgh", "ij"]


@given(TEXTS, st.integers(4, 20), st.integers(0, 2))
def test_no_row_is_too_wide_and_nothing_is_lost(text, width, hanging):
    rows = wrap(text, width, hanging)
    assert all(cell_len(plain(row)) <= width for row in rows)
    assert "".join(map(plain, rows)).replace(" ", "") == plain(text).replace(" ", "")


@given(TEXTS, st.integers(4, 20))
def test_styles_stay_with_their_characters(text, width):
    def characters(segments):
        return [(one, segment.style) for segment in segments for one in segment.text if one != " "]

    assert [one for row in wrap(text, width) for one in characters(row)] == characters(text)


def test_restyled_adds_a_style_to_some_characters():
    assert restyled((TextSegment("abcd", "bold"),), 1, 3, "on red") == (
        TextSegment("a", "bold"), TextSegment("bc", "bold on red"), TextSegment("d", "bold"),
    )  # fmt: skip


@given(TEXTS, st.integers(-20, 3), st.integers(0, 4))
def test_without_room_nothing_is_lost_either(text, width, hanging):
    rows = wrap(text, width, hanging)
    assert "".join(map(plain, rows)).replace(" ", "") == plain(text).replace(" ", "")
