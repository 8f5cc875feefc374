"""A file that grows: pieces are put in by name, and everything else stays as it is."""

import ast

import pytest

from lessons.model.growing import MAIN, TOP, changed, grown, pieces, with_pieces
from tests.support.course import COURSE

OWN = """# My tape.

import math


class Tape:
    limit = 3

    # counts rows
    def rows(self):
        return [helper(self)]

    def mul(self, x, y):
        return x * y


def helper(tape):
    return math.pi


if __name__ == "__main__":
    print(Tape().rows())
"""

GROWING = [lesson for lesson in COURSE if lesson.continues is not None]


class TestPieces:
    def test_are_the_named_parts_of_a_file(self):
        assert list(pieces(OWN)) == [TOP, "import math", "Tape", "Tape.rows", "Tape.mul", "helper", MAIN]

    def test_a_comment_right_above_a_function_belongs_to_it(self):
        assert pieces(OWN)["Tape.rows"].lines[0] == "    # counts rows"


class TestPutting:
    def test_a_method_goes_to_the_end_of_its_class(self):
        found = with_pieces(OWN, "class Tape:\n    def add(self, x, y):\n        return x + y\n")
        assert list(pieces(found)) == [TOP, "import math", "Tape", "Tape.rows", "Tape.mul", "Tape.add", "helper", MAIN]
        assert found.replace("\n    def add(self, x, y):\n        return x + y\n", "") == OWN

    def test_a_method_of_the_same_name_is_replaced_where_it_stands(self):
        found = with_pieces(OWN, "class Tape:\n    def rows(self):\n        return []\n")
        assert pieces(found)["Tape.rows"].lines == ("    def rows(self):", "        return []")
        assert pieces(found)["helper"].lines == pieces(OWN)["helper"].lines

    def test_a_statement_with_a_dot_is_no_method(self):
        found = with_pieces(OWN, "import sys\n\nsys.setrecursionlimit(9000)\nfor one in [].copy():\n    print(one)\n")
        assert "\nsys.setrecursionlimit(9000)\n" in found
        assert "\nfor one in [].copy():\n    print(one)\n" in found

    def test_a_function_and_a_new_class_go_before_the_main_program(self):
        new = "def order():\n    return 1\n\n\nclass Tensor:\n    def sum(self):\n        return 2\n"
        found = with_pieces(OWN, new)
        assert list(pieces(found))[-4:] == ["order", "Tensor", "Tensor.sum", MAIN]
        assert f"\n\n\n{new}" in found

    def test_an_import_joins_the_others_and_comes_once(self):
        found = with_pieces(OWN, "import math\nimport numpy as np\n")
        assert found.count("import math") == 1
        assert "import math\nimport numpy as np\n" in found

    def test_a_file_without_imports_gets_its_first(self):
        found = with_pieces("# Mine.\n\n\nx = 1\n", "import math\n")
        assert found == "# Mine.\n\nimport math\n\n\nx = 1\n"

    def test_the_comment_at_the_top_and_the_main_program_are_replaced(self):
        found = with_pieces(OWN, '# Next.\n\n\nif __name__ == "__main__":\n    print(1)\n')
        assert found.startswith("# Next.\n\nimport math\n")
        assert found.endswith('if __name__ == "__main__":\n    print(1)\n')

    def test_a_file_that_is_not_python_is_refused(self):
        with pytest.raises(SyntaxError):
            with_pieces("def", "x = 1\n")


class TestGrowing:
    def test_what_did_not_change_in_the_course_stays_as_the_learner_wrote_it(self):
        before = "def send():\n    return 1\n"
        after = "def send():\n    return 1\n\n\ndef order():\n    raise NotImplementedError\n"
        own = "def send():\n    # my way\n    return 3 - 2\n\n\ndef mine():\n    return 5\n"
        assert grown(own, before, after) == f"{own}\n\ndef order():\n    raise NotImplementedError\n"

    def test_nothing_changed_between_equal_files(self):
        assert changed(OWN, OWN) == []
        assert with_pieces(OWN, OWN) == OWN

    @pytest.mark.parametrize("lesson", GROWING, ids=[lesson.name for lesson in GROWING])
    def test_the_courses_own_solution_grows_into_its_next_exercise_and_that_into_its_solution(self, lesson):
        before = lesson.continues.exercise.solution.read_text(encoding="utf-8")
        shipped = lesson.exercise.path.read_text(encoding="utf-8")
        solved = lesson.exercise.solution.read_text(encoding="utf-8")
        assert grown(before, before, shipped) == shipped
        assert ast.dump(ast.parse(grown(shipped, shipped, solved))) == ast.dump(ast.parse(solved))

    def test_eight_lessons_build_one_file(self):
        names = ["tape_of_numbers", *(lesson.name for lesson in GROWING)]
        assert names == ["tape_of_numbers", "chain_rule", "fan_out", "order", "broadcasting", "the_vector", "matmul",
                         "capstone"]  # fmt: skip
        assert [lesson.continues.name for lesson in GROWING] == names[:-1]
