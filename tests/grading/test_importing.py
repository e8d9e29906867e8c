"""Imports that leave out, or put off, what a process does not need."""

import subprocess
import sys

import pytest

from course_grader.importing import UNUSED_OF_TORCH, putting_off


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that imports a module of its own, whose code says that it runs."""
    folder = tmp_path / "some_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("RAN = []\nfrom some_package import rarely\n")
    (folder / "rarely.py").write_text("from some_package import RAN\nRAN.append(1)\nANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "some_package"
    for name in ("some_package", "some_package.rarely"):
        sys.modules.pop(name, None)


def test_code_of_a_module_that_is_put_off_runs_when_it_is_asked_for_something(package):
    with putting_off("some_package.rarely"):
        made = __import__(package)
    assert made.RAN == []
    assert made.rarely.ANSWER == 42
    assert made.RAN == [1]
    assert made.rarely.ANSWER == 42
    assert made.RAN == [1]


def test_outside_of_the_block_nothing_is_put_off(package):
    with putting_off("some_package.rarely"):
        pass
    assert __import__(package).RAN == [1]


def test_missing_name_of_a_module_that_is_put_off_is_said_as_ever(package):
    with putting_off("some_package.rarely"):
        made = __import__(package)
    with pytest.raises(AttributeError, match="rarely"):
        made.rarely.other  # noqa: B018


CALCULATES = f"""
import sys
from course_grader.importing import putting_off
with putting_off(*{UNUSED_OF_TORCH!r}):
    import torch
put_off = {UNUSED_OF_TORCH!r}
kinds = [type(sys.modules[name]).__name__ for name in put_off]
x = torch.ones(2, 3, requires_grad=True)
model = torch.nn.Linear(3, 4)
torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 3])).backward()
assert x.grad.shape == (2, 3)
assert kinds == [type(sys.modules[name]).__name__ for name in put_off], "calculating asked for it"
assert callable(torch.export.export)
print(*kinds)
"""


def test_torch_calculates_without_what_is_put_off_of_it():
    done = subprocess.run(
        [sys.executable, "-c", CALCULATES], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["_Later", "_Later"], done.stderr
