"""Names between backticks and stressed words."""

import pytest

from tui.shell.backticks import colour_names


@pytest.mark.parametrize(
    ("text", "shown", "styled"),
    [
        (
            "the *first* of `x` and `y`",
            "the first of x and y",
            {"first": "italic", "x": "$text-primary", "y": "$text-primary"},
        ),
        (
            "`*operands` and `2 * x * y`",
            "*operands and 2 * x * y",
            {"*operands": "$text-primary", "2 * x * y": "$text-primary"},
        ),
        ("2 * x * y", "2 * x * y", {}),
        ("(*several words*)", "(several words)", {"several words": "italic"}),
    ],
)
def test_marks_are_styles(text, shown, styled):
    content = colour_names(text)
    assert content.plain == shown
    assert {shown[span.start : span.end]: str(span.style).strip() for span in content.spans} == styled
