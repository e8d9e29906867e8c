"""Notebooks are stored in one normal form, and run top to bottom in a fresh kernel."""

import json
from pathlib import Path

import pytest

from course_grader import notebook_form, notebooks
from course_grader.errors import CellFailedError, UnreadableNotebookError

ROOT = Path(__file__).parents[2]


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def result(text, count=1):
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": count,
    }


def test_normal_form_is_reached_in_one_step(notebook):
    path = notebook(("markdown", "# Title"), ("code", "1 + 1", {"outputs": [result("2", 7)]}))
    assert notebook_form.normalize(path) is True
    first = path.read_bytes()
    assert notebook_form.normalize(path) is False
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")


def test_check_only_looks(notebook):
    path = notebook(("markdown", "# Title"))
    before = path.read_bytes()
    assert notebook_form.normalize(path, check=True) is True
    assert path.read_bytes() == before


def test_traces_of_a_run_and_of_an_editor_go_and_what_was_said_on_purpose_stays(notebook, cells):
    kept = {"tags": ["hide-input"], "nbgrader": {"grade": True}, "mystnb": {"image": {"alt": "a"}}}
    traces = {
        "execution": {"iopub.status.busy": "2024-01-01T00:00:00Z"},
        "collapsed": True,
        "scrolled": True,
        "jupyter": {"source_hidden": True},
        "ExecuteTime": {"end_time": "x"},
        "vscode": {"languageId": "python"},
    }
    path = notebook(
        ("code", "1", {"metadata": kept | traces}),
        metadata={"kernelspec": {"name": "my-env", "display_name": "Mine"}, "widgets": {"a": 1}},
    )
    notebook_form.normalize(path)
    assert cells(path)[0]["metadata"] == kept
    assert json.loads(path.read_text())["metadata"] == {
        "kernelspec": notebook_form.KERNEL,
        "language_info": {"name": "python"},
    }


def test_glued_values_keep_their_names(notebook, cells):
    output = {
        "output_type": "display_data",
        "data": {"application/papermill.record/text/plain": "3"},
        "metadata": {
            "scrapbook": {"mime_prefix": "application/papermill.record/", "name": "loss"},
            "needs_background": "light",
        },
    }
    path = notebook(("code", "glue('loss', 3)", {"outputs": [output], "execution_count": 1}))
    notebook_form.normalize(path)
    assert cells(path)[0]["outputs"][0]["metadata"] == {
        "scrapbook": output["metadata"]["scrapbook"]
    }


def test_ids_stay_and_missing_ones_follow_from_the_text(notebook, cells):
    def ids():
        path = notebook(
            ("code", "1"),
            ("code", "x", {"id": None}),
            ("code", "x", {"id": None}),
            ("code", "2", {"id": "cell-0"}),
        )
        notebook_form.normalize(path)
        return [cell["id"] for cell in cells(path)]

    assert ids() == ids()
    assert ids()[0] == "cell-0"
    assert len(set(ids())) == 4


def test_cells_that_ran_are_numbered_as_from_one_clean_run(notebook, cells):
    path = notebook(
        ("code", "1", {"outputs": [result("1", 12)], "execution_count": 12}),
        ("code", "not run"),
        ("code", "2", {"outputs": [result("2", 9)], "execution_count": 9}),
    )
    notebook_form.normalize(path)
    assert [cell["execution_count"] for cell in cells(path)] == [1, None, 2]
    assert cells(path)[2]["outputs"][0]["execution_count"] == 2


def test_consecutive_pieces_of_a_stream_become_one(notebook, cells):
    outputs = [stream("a\n"), stream("b\n"), stream("c\n", "stderr"), stream("d\n")]
    path = notebook(("code", "…", {"outputs": outputs, "execution_count": 1}))
    notebook_form.normalize(path)
    texts = [(o["name"], "".join(o["text"])) for o in cells(path)[0]["outputs"]]
    assert texts == [("stdout", "a\nb\n"), ("stderr", "c\n"), ("stdout", "d\n")]


@pytest.mark.parametrize(
    ("printed", "stored"),
    [
        ("/tmp/ipykernel_123/456.py:3: UserWarning", "<cell>:3: UserWarning"),
        ("/opt/x/.venv/lib/python3.11/site-packages/torch/nn.py:1", "torch/nn.py:1"),
        ("~/c/.venv/lib/python3.12/site-packages/torch/nn.py:1", "torch/nn.py:1"),
        (f"{ROOT}/book/x.md", "book/x.md"),
        ("/usr/lib/python3.11/json/decoder.py", "python3.11/json/decoder.py"),
        ("a fraction 1/2, an address https://example.org/a/b", None),
    ],
)
def test_folders_of_the_machine_are_not_stored(notebook, cells, printed, stored):
    path = notebook(("code", "…", {"outputs": [stream(printed)], "execution_count": 1}))
    notebook_form.normalize(path)
    assert "".join(cells(path)[0]["outputs"][0]["text"]) == (stored or printed)
    assert notebook_form.machine_paths(path) == []


def test_a_path_that_is_left_is_named_with_its_cell(notebook):
    somewhere = "/ho" + "me/ada/data.txt"
    path = notebook(("markdown", "# T"), ("code", f"open('{somewhere}')"))
    assert notebook_form.machine_paths(path) == [f"cell 2: {somewhere}"]
    assert notebooks.main(["check", str(path)]) == 1


def test_a_widget_leaves_its_page_form_and_not_its_random_id(notebook, cells):
    data = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "8f3a"},
        "text/html": "<div>figure</div>",
        "text/plain": "Figure()",
    }
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    path = notebook(("code", "figure", {"outputs": [output], "execution_count": 1}))
    notebook_form.normalize(path)
    assert set(cells(path)[0]["outputs"][0]["data"]) == {"text/html", "text/plain"}


@pytest.mark.slow
def test_run_starts_from_nothing_in_the_folder_of_the_notebook(notebook, cells):
    path = notebook(
        ("code", "import os\nos.path.basename(os.getcwd())", {"outputs": [stream("stale")]}),
        ("code", "print('a')"),
    )
    notebooks.run(path)
    first, second = cells(path)
    assert first["outputs"][0]["data"]["text/plain"] == [repr(path.parent.name)]
    assert second["outputs"] == [stream(["a\n"])]
    assert notebook_form.normalize(path, check=True) is False


@pytest.mark.slow
def test_run_names_the_cell_that_failed_and_leaves_the_file(notebook):
    path = notebook(
        ("markdown", "# T"), ("code", "x = 1"), ("code", "x / 0  # the fault"), ("code", "x")
    )
    before = path.read_bytes()
    with pytest.raises(CellFailedError, match=r"cell 3 .*x / 0.* raised ZeroDivisionError"):
        notebooks.run(path)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_run_names_the_cell_that_hangs(notebook):
    path = notebook(("code", "import time"), ("code", "while True: time.sleep(0.1)"))
    with pytest.raises(CellFailedError, match=r"cell 2 .* took more than 2 s"):
        notebooks.run(path, timeout=2)


@pytest.mark.slow
def test_run_keeps_an_error_that_is_there_on_purpose(notebook, cells):
    tags = {"metadata": {"tags": ["raises-exception"]}}
    path = notebook(("code", "1 / 0", tags), ("code", "'after'"))
    notebooks.run(path)
    assert cells(path)[0]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert cells(path)[1]["outputs"][0]["data"]["text/plain"] == ["'after'"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[]", b'{"nbformat": 3, "worksheets": []}']
)
def test_a_file_that_is_no_notebook_is_refused_by_name(tmp_path, content):
    path = tmp_path / "broken.ipynb"
    path.write_bytes(content)
    with pytest.raises(UnreadableNotebookError, match=r"broken\.ipynb"):
        notebook_form.normalize(path)
    assert path.read_bytes() == content


def test_a_missing_file_is_named(tmp_path, capsys):
    assert notebooks.main(["normalize", str(tmp_path / "gone.ipynb")]) == 1
    assert "gone.ipynb does not exist" in capsys.readouterr().err


def test_a_folder_means_all_its_notebooks_but_no_checkpoints(tmp_path):
    for name in ("b/two.ipynb", "one.ipynb", "b/.ipynb_checkpoints/two-checkpoint.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [path.name for path in notebooks.notebooks_in([tmp_path])]
    assert found == ["two.ipynb", "one.ipynb"]
