"""The day on which Jupyter Book has to leave costs a day: the same pages come without it."""

import shutil
from pathlib import Path

import pytest
import yaml

from setup import plain_sphinx

ROOT = Path(__file__).parents[2]

PAGE = "# {title}\n\nA paragraph with $x_t$ and a {{ref}}`link <there>`.\n\n(there)=\n## There\n"


@pytest.fixture
def small_course(tmp_path):
    """A course of two pages, with the settings of this one."""
    root = tmp_path / "course"
    (root / "book").mkdir(parents=True)
    for name in ("one", "two"):
        text = PAGE.format(title=name.title()).replace("there", f"there-{name}")
        (root / f"book/{name}.md").write_text(text, encoding="utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["local_extensions"] = {}
    settings = config["sphinx"]["config"]
    settings["extensions"] = ["myst_nb", "jupyter_book", "sphinx_external_toc", "sphinx_book_theme"]
    for name in ("html_static_path", "html_css_files", "html_js_files", "html_favicon"):
        settings.pop(name)
    for name in list(settings):
        if name.startswith(("bibtex_", "togglebutton_", "copybutton_", "html_math_renderer")):
            settings.pop(name)
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    contents = {"format": "jb-book", "root": "book/one", "chapters": [{"file": "book/two"}]}
    (root / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
    return root


def test_what_is_installed_is_what_the_book_needs_and_no_jupyter_book():
    names = plain_sphinx.packages()
    assert "sphinx>=9" in names
    assert any(name.startswith("math-core") for name in names)
    assert not any(name.startswith(("jupyter-book", "torch")) for name in names)


def test_every_setting_of_the_book_is_taken_over():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    taken = plain_sphinx.configuration()
    for name, value in config["sphinx"]["config"].items():
        if name == "extensions":
            value = [one for one in value if one not in plain_sphinx.LEFT]
        elif name == "html_favicon":
            value = str(ROOT / value)
        elif name == "html_static_path":
            value = [str(ROOT / one) for one in value]
        assert taken[name] == value
    assert taken["exclude_patterns"] == config["exclude_patterns"]


def test_files_of_the_book_are_named_from_the_root_as_conf_py_lies_elsewhere():
    taken = plain_sphinx.configuration()
    named = [*taken["bibtex_bibfiles"], *taken["html_static_path"], taken["html_favicon"]]
    assert all(Path(one).is_absolute() and Path(one).exists() for one in named)


@pytest.mark.slow
def test_pages_are_made_without_jupyter_book_and_what_differs_is_named(small_course, tmp_path):
    site, beside = tmp_path / "site", tmp_path / "beside"
    warnings = plain_sphinx.build(small_course, site)
    assert not [one for one in warnings if "book/" in one]
    assert "A paragraph with" in (site / "book/two.html").read_text(encoding="utf-8")
    shutil.copytree(site, beside)
    assert list(plain_sphinx.differences(site, beside)) == []

    page = beside / "book/two.html"
    page.write_text(page.read_text(encoding="utf-8").replace("A paragraph", "Once"), "utf-8")
    (site / "book/one.html").unlink()
    found = dict(plain_sphinx.differences(site, beside))
    assert found.pop("book/one.html") == "is missing"
    assert "Once" in found.pop("book/two.html")
    assert found == {}
    told = plain_sphinx.report(["a warning"], [("book/one.html", "is missing")], {"sphinx": "9"})
    assert "1 warnings, 1 pages that differ." in told
    assert "- book/one.html is missing" in told


@pytest.mark.slow
def test_build_without_a_page_says_why(small_course, tmp_path):
    (small_course / "_toc.yml").write_text("format: jb-book\nroot: book/none\n", encoding="utf-8")
    with pytest.raises(plain_sphinx.PlainBuildError, match="Sphinx made no page"):
        plain_sphinx.build(small_course, tmp_path / "site")
