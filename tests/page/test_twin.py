"""The module that answers to `torch` in a page gives PyTorch's values, gradients and errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import twin_expressions as asked

SCRIPT = Path(asked.__file__)


@pytest.fixture(scope="module")
def pytorch():
    """What PyTorch gives: values, gradients and errors by expression."""
    done = subprocess.run(
        [sys.executable, "-P", SCRIPT], capture_output=True, text=True, check=True, timeout=300
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def twin(in_page):
    """What the twin gives."""
    done = in_page(SCRIPT)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def alike(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=2e-5, abs=1e-6, nan_ok=True)
    return one == other


@pytest.mark.parametrize("expression", asked.VALUES)
def test_the_same_value(pytorch, twin, expression):
    assert alike(twin[0][expression], pytorch[0][expression])


@pytest.mark.parametrize("expression", asked.GRADIENTS)
def test_the_same_gradient(pytorch, twin, expression):
    assert alike(twin[1][expression], pytorch[1][expression])


@pytest.mark.parametrize("expression", asked.ERRORS)
def test_the_same_error(pytorch, twin, expression):
    assert twin[2][expression] == pytorch[2][expression]


@pytest.mark.parametrize("change", ["y.add_(1)", "y[0] = 1", "y.view(2, 1).mul_(2)", "y.zero_()"])
def test_numbers_that_the_way_back_needs_are_not_changed_unnoticed(in_page, change):
    code = (
        f"import torch; y = torch.ones(2, requires_grad=True).exp(); {change}; y.sum().backward()"
    )
    said = in_page("-c", code).stderr
    assert "has been modified by an inplace operation" in said
