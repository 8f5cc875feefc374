"""Into what a picture can be asked to fit."""

from __future__ import annotations

from typing import Any

import pytest

from viz.basics.errors import DrawError
from viz.fitting.sizes import sizes_of


def test_a_place_has_a_name_or_a_size() -> None:
    assert sizes_of("slide") == ((1280, 720),)
    assert sizes_of((1600, 900)) == ((1600, 900),)
    assert [one.width < one.height for one in sizes_of("a4")] == [True, False]
    assert str(sizes_of("slide")[0]) == "1280x720"


@pytest.mark.parametrize("fit", ["poster", "1600x900x2", (1600,), (1600, "wide"), 1600, (float("nan"), 900), (1, 1)])
def test_anything_else_is_one_clear_line(fit: Any) -> None:
    with pytest.raises(DrawError, match=r"fit=.* is not valid: [^\n]*$"):
        sizes_of(fit)
