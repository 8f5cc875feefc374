"""What is uploaded to an index: the version, the README as the index renders it, what the sdist holds."""

import re
import tomllib

import microtape
from tests.support.pages import ROOT, blocks
from tui.commands.cli import main

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HATCH = PROJECT["tool"]["hatch"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = re.compile(r'\]\(([^)]+)\)|src="([^"]+)"')


def on_an_index() -> str:
    """The README as hatch-fancy-pypi-readme makes it."""
    text = README
    for one in HATCH["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    return text


def targets(text: str) -> list[str]:
    return [link or picture for link, picture in TARGETS.findall(text)]


def test_the_version_has_one_place(capfd):
    assert "version" not in PROJECT["project"]
    assert "version" in PROJECT["project"]["dynamic"]
    assert (ROOT / HATCH["version"]["path"]).samefile(microtape.__file__)
    assert main(["--version"]) == 0
    assert capfd.readouterr().out == f"microtape {microtape.__version__}\n"
    newest = re.search(r"^## (\S+?),? ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == microtape.__version__


def test_on_an_index_every_picture_and_link_of_the_readme_is_a_whole_address():
    repository = PROJECT["project"]["urls"]["Repository"]
    pages, pictures = f"{repository}/blob", repository.replace("github.com", "raw.githubusercontent.com")
    relative = [one for one in targets(README) if not one.startswith(("https:", "#"))]
    assert len(relative) > 20
    whole = targets(on_an_index())
    for one in relative:
        assert f"{pictures if one.endswith(('.png', '.gif')) else pages}/v$HFPR_VERSION/{one}" in whole
    assert not [one for one in whole if not one.startswith(("https:", "#"))]


def test_on_an_index_the_programs_of_the_readme_are_the_same():
    for language in ("python", "sh", "console"):
        assert blocks(on_an_index(), language) == blocks(README, language)


def test_the_addresses_of_the_project_are_pages_of_its_repository():
    urls = PROJECT["project"]["urls"]
    for name, url in urls.items():
        assert url.startswith(urls["Repository"]), name
        _, _, file = url.partition("/blob/main/")
        assert not file or (ROOT / file).is_file(), name


def test_the_citation_names_this_version_and_repository():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    citation = dict(re.findall(r'^([\w-]+): "?([^"\n]+)"?$', text, re.MULTILINE))
    assert citation["version"] == microtape.__version__
    assert citation["repository-code"] == PROJECT["project"]["urls"]["Repository"]
    assert citation["license"] == PROJECT["project"]["license"]


def test_the_workflows_run_what_the_readme_names():
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    assert "run: .ci/run\n" in workflow
    assert "run: python -m pytest\n" in workflow
    assert all(f'"3.{minor}"' in workflow for minor in range(11, 15))
    assert all(f"{system}-latest" in workflow for system in ("ubuntu", "macos", "windows"))


def test_templates_for_reports_ask_for_a_recording():
    for template in ("wrong.yml", "torch_differs.yml"):
        assert ".tape" in (ROOT / ".github" / "ISSUE_TEMPLATE" / template).read_text(encoding="utf-8")
