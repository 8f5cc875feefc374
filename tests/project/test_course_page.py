"""The page about the course and PyTorch: generated, and true."""

import importlib
from functools import reduce

import pytest

from tests.support.course import COURSE
from tests.support.course_page import PAGE, page

NOTES = {
    "Autograd mechanics",
    "Automatic differentiation package - torch.autograd",
    "Broadcasting semantics",
    "Extending PyTorch",
    "Gradcheck mechanics",
    "RNN",
    "Tensor Views",
    "torch.optim",
    "torch.utils.checkpoint",
}
"""Pages of PyTorch's documentation that are not about one name alone."""


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again with: python -m tests.support.course_page"


@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_every_lesson_has_its_names_and_pages(lesson):
    assert lesson.pytorch
    for name, title in lesson.pytorch:
        assert title in NOTES or title == name


@pytest.mark.parity
@pytest.mark.parametrize("lesson", COURSE, ids=lambda lesson: lesson.name)
def test_every_name_exists_in_pytorch(lesson):
    for name, _ in lesson.pytorch:
        importlib.import_module("torch.utils.checkpoint")
        reduce(getattr, name.split(".")[1:], importlib.import_module("torch"))
