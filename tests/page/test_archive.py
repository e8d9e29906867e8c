"""Promises of the archive that a page unpacks: all that an answer needs, always the same bytes."""

import io
import json
import zipfile

import pytest

from course_page import archive
from course_page.left_out import LEFT_OUT, SLOW
from course_tasks import catalogue

LARGEST = 1_500_000


def test_the_same_sources_give_the_same_bytes():
    first, version = archive.build(), archive.version()
    archive.build.cache_clear()
    assert archive.build() == first
    assert archive.version() == version


def test_another_source_gives_another_version(monkeypatch, tmp_path):
    before = archive.version()
    (tmp_path / "more.py").write_text("x = 1\n")
    found = {**archive.files(), "more.py": tmp_path / "more.py"}
    monkeypatch.setattr(archive, "files", lambda: found)
    archive.build.cache_clear()
    assert archive.version() != before
    archive.build.cache_clear()


def test_it_is_small_and_holds_no_grader_and_nothing_compiled():
    assert len(archive.build()) < LARGEST
    names = zipfile.ZipFile(io.BytesIO(archive.build())).namelist()
    assert {"torch/__init__.py", "safetensors/__init__.py", "course_page/session.py"} <= set(names)
    for name in names:
        assert not name.endswith(".pyc")
        assert "course_grader" not in name
        assert "runner/" not in name


def test_every_task_is_in_it_or_named_with_its_reason():
    names = set(archive.files())
    for task in catalogue.names():
        path = catalogue.module_of(task).replace(".", "/") + ".py"
        judge = path.replace("course_tasks", "course_judges")
        assert (task in LEFT_OUT) != ({path, judge} <= names), task
    for task, why in (LEFT_OUT | SLOW).items():
        assert task in catalogue.names()
        assert why.endswith(".")


def test_in_it_torch_is_the_twin_and_safetensors_the_stand_in(in_page, unpacked):
    code = "import safetensors.torch, torch; print(torch.__file__); print(safetensors.__file__)"
    done = in_page("-c", code)
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(str(unpacked)) for line in done.stdout.splitlines())


@pytest.mark.parametrize("chapter", ["05"])
def test_a_check_imports_no_other_chapter(in_page, chapter):
    request = {
        "before": ["import math\nfrom course_tasks import check"],
        "source": "def attention_scores(x, w_query, w_key):\n"
        "    return (x @ w_query) @ (x @ w_key).mT / math.sqrt(w_key.shape[-1])",
        "call": f'check("{chapter}/scores", attention_scores)',
    }
    code = f"""
import json, sys
from course_page import session
session.ready({chapter!r})
found = json.loads(session.check("{chapter}/scores", {json.dumps(request)!r}))
judges = [name.split(".")[1] for name in sys.modules if name.startswith("course_judges.ch")]
found["chapters"] = sorted(set(judges))
print(json.dumps(found))
"""
    done = in_page("-c", code)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["points"] == found["outOf"] > 0, found
    assert found["chapters"] == ["ch05_head"]
