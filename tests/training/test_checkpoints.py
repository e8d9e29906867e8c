"""What was saved comes back the same, and a file that is none is refused and left alone."""

import os

import pytest
import torch
from small_trainings import QUIET, assert_same_weights, weights

from course_lib import checkpoints
from course_lib.errors import CheckpointError
from course_lib.model import Bigram, ManyHeads, fuse
from course_lib.training import fit


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("form", [lambda m: m, fuse], ids=["plain", "fused"])
def test_a_saved_gpt_comes_back_without_being_told_its_sizes(corpus, build, tied, form, tmp_path):
    model = form(build(tied=tied)).eval()
    path = checkpoints.save(tmp_path / "deep" / "gpt.safetensors", model)
    again = checkpoints.load(path)
    x = corpus.validation[:8].unsqueeze(0)
    torch.testing.assert_close(again(x)[0], model(x)[0], atol=0, rtol=0)
    assert not again.training
    assert again.config == model.config


def test_models_without_config_are_loaded_into_one_of_the_same_sizes(tmp_path):
    model = ManyHeads(7, 8, 12, 3)
    path = checkpoints.save(tmp_path / "heads.safetensors", model)
    with pytest.raises(CheckpointError, match="ManyHeads, which has no Config"):
        checkpoints.load(path)
    twin = ManyHeads(7, 8, 12, 3)
    assert checkpoints.load(path, twin) is twin
    assert_same_weights(weights(twin), weights(model))


def test_a_checkpoint_of_another_config_names_what_differs_and_changes_nothing(
    corpus, build, tmp_path
):
    path = checkpoints.save(tmp_path / "gpt.safetensors", build())
    other = build(n_embd=32, block_size=6)
    before = weights(other)
    with pytest.raises(CheckpointError) as refusal:
        checkpoints.load(path, other)
    assert "block_size: 8 in the file, 6 in the model" in str(refusal.value)
    assert "n_embd: 16 in the file, 32 in the model" in str(refusal.value)
    with pytest.raises(CheckpointError):
        fit(other, corpus, steps=2, resume=path, **QUIET)
    assert_same_weights(weights(other), before)
    with pytest.raises(CheckpointError, match="heads plain in the file, fused in the model"):
        checkpoints.load(path, fuse(build()))
    with pytest.raises(CheckpointError, match=r"table\.weight: \(7, 7\) in the file, \(8, 8\)"):
        checkpoints.load(checkpoints.save(tmp_path / "b", Bigram(7)), Bigram(8))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused_and_left_alone(corpus, build, tmp_path, share):
    path = tmp_path / "run.safetensors"
    settings = {"steps": 4, **QUIET}
    fit(build(), corpus, checkpoint=path, **settings)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    model = build()
    before = weights(model)
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        fit(model, corpus, resume=path, **settings)
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        checkpoints.load(path)
    assert_same_weights(weights(model), before)
    assert path.read_bytes() == whole[: int(len(whole) * share)]


def test_files_that_are_no_checkpoints_are_refused(tmp_path):
    import pickle

    from safetensors.torch import save_file

    with pytest.raises(CheckpointError, match="no such file"):
        checkpoints.load(tmp_path / "none")
    (tmp_path / "pickle").write_bytes(pickle.dumps(_Bomb(tmp_path / "exploded")))
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        checkpoints.load(tmp_path / "pickle")
    assert not (tmp_path / "exploded").exists()
    save_file({"a": torch.zeros(2)}, tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="not a checkpoint of this course"):
        checkpoints.load(tmp_path / "foreign")


class _Bomb:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_crash_while_writing_leaves_the_old_checkpoint(build, tmp_path, monkeypatch):
    path = checkpoints.save(tmp_path / "gpt.safetensors", build())
    before = path.read_bytes()

    def crash(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save(path, build(n_embd=32))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["gpt.safetensors"]
