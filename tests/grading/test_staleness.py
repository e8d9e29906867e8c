"""A grade is stale when something changed that can change it, and fresh after all other changes."""

import pytest

from course_grader import staleness

FILES = (
    "course_lib/model.py",
    "course_lib/data/play/words.txt",
    "course_tasks/probing.py",
    "course_tasks/runner/zygote.py",
    "course_tasks/variant_runs.py",
    "course_tasks/ch05_head/scores.py",
    "course_tasks/ch06_heads/split.py",
    "course_judges/judging.py",
    "course_judges/defending/kinds.py",
    "course_judges/ch05_head/scores.py",
    "course_judges/ch05_head/choosing.json",
    "course_judges/ch06_heads/tiny_heads.json",
    "course_judges/ch06_heads/split.py",
    "course_figures/averaging.py",
    "course_grader/reports/report.py",
    "book/_ext/figure_pages.py",
)

# What a change of must grade 05 again.
OF_05 = {name for name in FILES if name.startswith("course_") and "ch06" not in name} - {
    "course_figures/averaging.py",
    "course_grader/reports/report.py",
    "course_judges/defending/kinds.py",
    "course_tasks/variant_runs.py",
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one line a file, and a way to ask for keys of it as it is now."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("number = 0")
    monkeypatch.setattr("course_lib.__file__", str(tmp_path / "course_lib" / "__init__.py"))

    def key(ask):
        staleness.digest_of.cache_clear()
        return ask()

    yield tmp_path, key
    staleness.digest_of.cache_clear()


def key_of_05():
    return staleness.judging_key(["05/scores", "05/head"])


@pytest.mark.parametrize("name", FILES)
def test_only_what_can_change_a_grade_makes_it_stale(course, name):
    folder, key = course
    before = key(key_of_05)
    (folder / name).write_text('"""A docstring."""')
    assert (key(key_of_05) != before) == (name in OF_05)


@pytest.mark.parametrize("name", FILES)
def test_workers_must_agree_on_what_runs_inside_and_on_nothing_else(course, name):
    folder, key = course
    before = key(staleness.sandbox_key)
    (folder / name).write_text('"""A docstring."""')
    inside = name.startswith(("course_lib", "course_tasks"))
    assert (key(staleness.sandbox_key) != before) == inside


@pytest.mark.parametrize("package", ["torch", "numpy", "jax"])
def test_another_version_of_what_computes_makes_it_stale(course, monkeypatch, package):
    _, key = course
    before = key(key_of_05)
    real = staleness.version_of
    monkeypatch.setattr(
        staleness, "version_of", lambda name: "0.1" if name == package else real(name)
    )
    assert key(key_of_05) != before


def test_number_of_a_release_alone_makes_nothing_stale(course):
    """A patch release that changes no judge regrades nobody."""
    folder, key = course
    module = folder / "course_lib" / "__init__.py"
    module.write_text('"""Documented."""\n\n__version__ = "1.0.0"\n')
    before = key(key_of_05), key(staleness.sandbox_key)
    module.write_text('"""Documented."""\n\n__version__ = "1.0.1"\n')
    assert (key(key_of_05), key(staleness.sandbox_key)) == before
    module.write_text('"""Documented."""\n\nTOLERANCE = 1\n__version__ = "1.0.1"\n')
    assert key(key_of_05) != before[0]


def test_compiled_code_does_not_count(course):
    folder, key = course
    before = key(key_of_05)
    (folder / "course_lib" / "model.pyc").write_text("compiled")
    assert key(key_of_05) == before
