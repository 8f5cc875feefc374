"""The page of known differences is up to date, and does not grow unnoticed."""

from tests.support.differences_page import BY_DESIGN, PAGE, page, sections

KNOWN = 106
"""The number of differences. To add one, change this number and give the reason in the table."""


def test_the_page_says_what_the_tables_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again with: python -m tests.support.differences_page"


def test_the_number_of_differences_does_not_grow_unnoticed():
    assert sum(map(len, sections().values())) <= KNOWN, "microtape has come to differ from PyTorch in one more way"


def test_every_entry_is_a_sentence():
    for entry in [entry for entries in sections().values() for entry in entries] + BY_DESIGN:
        assert entry.endswith(".")
        assert entry[0].isupper() or entry[0] == "`"


def test_the_readme_leads_to_it():
    readme = (PAGE.parent.parent / "README.md").read_text(encoding="utf-8")
    assert "(docs/differences.md)" in readme
