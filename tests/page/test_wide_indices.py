"""Where indices have 32 bits, NumPy takes int64 as it does elsewhere."""

import numpy as np
import pytest

from course_page import wide_indices


def refusing(x, indices):
    """As NumPy on such a platform."""
    if np.asarray(indices).dtype == np.int64:
        raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
    return x[np.asarray(indices)]


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(wide_indices.np, "intp", np.int32)


def test_an_index_of_int64_is_narrowed(narrow):
    take = wide_indices.narrowing(refusing, 1, "indices")
    x, where = np.arange(5.0), np.array([4, 0])
    with pytest.raises(TypeError):
        refusing(x, where)
    assert take(x, where).tolist() == [4, 0]
    assert take(x, indices=where).tolist() == [4, 0]


def test_a_number_that_is_no_index_is_refused_and_not_cut(narrow):
    take = wide_indices.narrowing(refusing, 1, "indices")
    with pytest.raises(OverflowError, match="4294967297"):
        take(np.arange(5.0), np.array([2**32 + 1]))


def test_elsewhere_numpy_stays_as_it_is():
    before = np.bincount
    wide_indices.accept()
    assert np.bincount is before
