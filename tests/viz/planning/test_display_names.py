"""How a picture names a line of code."""

from __future__ import annotations

import pytest

from microtape.recording.model.model import Place, Recording
from viz.planning.display_names import location


@pytest.mark.parametrize(
    ("file", "others", "said"),
    [
        ("train.py", 0, "line 7"),
        ("train.py", 1, "train.py:7"),
        ("models/vgg.py", 1, "models/vgg.py:7"),
        ("site-packages/transformers/models/bert/modeling_bert.py", 1, "modeling_bert.py:7"),
        ("a_name_that_is_longer_than_a_box_is_wide.py", 1, "a_name_that_is_longer_than_a_box_is…"),
    ],
)
def test_a_line_is_named_with_its_file_if_there_are_several_and_with_its_folders_if_they_fit(
    file: str, others: int, said: str
) -> None:
    sources = {file: "", **{f"other{i}.py": "" for i in range(others)}}
    recording = Recording("train.py", (), (), (), sources)
    assert location(recording, Place(file, 7, 7, 0, 5, "<module>")) == said
