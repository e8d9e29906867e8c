"""The model in JAX and Flax: the numbers of torch, and a clear word where JAX is missing."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import nnx

from course_lib import flax_model, jax_model
from course_lib.errors import ConfigError, JaxMissingError, ShapeError
from course_lib.jax_exchange import from_torch, to_torch
from course_lib.model import ManyHeads, fuse
from course_tasks import check
from course_tasks.flattening import flatten

pytestmark = pytest.mark.slow

V, T, C, H = 11, 5, 12, 3


@pytest.fixture
def model():
    torch.manual_seed(0)
    return ManyHeads(V, T, C, H)


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    return rng.integers(V, size=(4, T)), rng.integers(V, size=(4, T))


def same(one, two):
    return jax.tree.all(jax.tree.map(jnp.array_equal, one, two))


def test_logits_loss_and_gradients_are_those_of_torch(model, batch):
    tokens, targets = batch
    logits, loss = model(*map(torch.from_numpy, batch))
    loss.backward()
    tree = from_torch(model)
    mine = jax.vmap(jax_model.logits_of, (None, 0))(tree, jnp.array(tokens))
    assert np.abs(np.asarray(mine) - logits.detach().numpy()).max() < 1e-5
    value, gradients = jax.value_and_grad(jax_model.loss_of)(tree, tokens, jnp.array(targets))
    assert float(value) == pytest.approx(loss.item(), abs=1e-5)
    for name, parameter in to_torch(gradients).named_parameters():
        assert torch.allclose(parameter, model.get_parameter(name).grad, atol=1e-4), name


def test_there_and_back_changes_no_parameter(model):
    tree = from_torch(model)
    back = to_torch(tree).state_dict()
    assert all(torch.equal(back[name], value) for name, value in model.state_dict().items())
    assert same(from_torch(fuse(model)), tree)


def test_torch_and_jax_share_no_memory(model):
    tree = from_torch(model)
    before = jax.tree.map(jnp.copy, tree)
    with torch.no_grad():
        for parameter in (*model.parameters(), *to_torch(tree).parameters()):
            parameter.add_(1)
    assert same(tree, before)


def test_targets_of_minus_100_count_for_nothing(model, batch):
    tokens, targets = batch
    targets[:, 3:] = -100
    tree = from_torch(model)
    loss = model(torch.from_numpy(tokens), torch.from_numpy(targets))[1]
    mine = jax_model.loss_of(tree, jnp.array(tokens), jnp.array(targets))
    assert float(mine) == pytest.approx(loss.item(), abs=1e-5)


def test_flax_model_with_the_same_tree_gives_the_same_logits(model, batch):
    tree = from_torch(model)
    flax = flax_model.FlaxManyHeads(V, T, C, H, rngs=nnx.Rngs(0))
    flax_model.load(flax, tree)
    theirs = model(torch.from_numpy(batch[0]))[0].detach().numpy()
    assert np.abs(np.asarray(flax(jnp.array(batch[0]))) - theirs).max() < 1e-5
    assert same(flax_model.tree_of(flax), tree)


def test_heads_of_a_fresh_flax_model_start_from_different_numbers():
    flax = flax_model.FlaxManyHeads(V, T, C, H, rngs=nnx.Rngs(0))
    for name in ("query", "key", "value"):
        matrices = getattr(flax.heads, name).kernel[...]
        assert matrices.shape == (H, C, C // H)
        assert not any(jnp.array_equal(matrices[0], other) for other in matrices[1:])


def test_training_in_one_loop_learns_and_leaves_its_start_alone():
    start = jax_model.initialize(jax.random.key(0), V, T, C, H)
    before = jax.tree.map(jnp.copy, start)
    tokens = jnp.tile(jnp.arange(V), 30)
    trained, losses = jax_model.scan_training(
        start, tokens, jax.random.key(1), optimizer=optax.adamw(1e-2), steps=60, batch_size=8
    )
    assert losses.shape == (60,)
    assert losses[-5:].mean() < losses[0] / 2
    assert same(start, before)
    assert jax.tree.structure(trained) == jax.tree.structure(start)


def test_no_two_arrays_of_a_fresh_tree_begin_alike():
    tree = jax_model.initialize(jax.random.key(0), V, T, C, H)
    firsts = [float(leaf.ravel()[0]) for leaf in jax.tree.leaves(tree)]
    ratios = {round(a / b, 6) for a in firsts for b in firsts if a is not b}
    assert len(set(firsts)) == len(firsts)
    assert 1.0 not in ratios


def test_impossible_sizes_are_refused_by_name():
    with pytest.raises(ConfigError, match="n_head = 5"):
        jax_model.initialize(jax.random.key(0), V, T, C, 5)
    tree = jax_model.initialize(jax.random.key(0), V, T, C, H)
    with pytest.raises(ShapeError, match="pass the last 5"):
        jax_model.logits_of(tree, jnp.zeros(T + 1, dtype=int))


class TestAnswers:
    """What leaves a student's code may be arrays of JAX."""

    def test_arrays_scalars_and_lists_of_scalars_are_values(self):
        flat = flatten("a", {"x": jnp.arange(3.0), "n": jnp.int32(2), "l": [jnp.float32(1), 2.0]})
        assert flat["a.x"].tolist() == [0, 1, 2]
        assert flat["a.x"].dtype == np.float32
        assert flat["a.n"].dtype == np.int64
        assert flat["a.l"].tolist() == [1, 2]

    def test_half_precision_widens(self):
        assert flatten("a", jnp.ones(2, jnp.bfloat16))["a"].dtype == np.float32

    def test_key_is_refused_by_name(self):
        with pytest.raises(TypeError, match="PRNG key"):
            flatten("a", jax.random.key(0))


def in_a_fresh_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_judging_imports_no_jax():
    code = (
        "import sys, numpy as np\n"
        "from course_judges import catalogue as judges\nfrom course_tasks import catalogue, check\n"
        "tasks = [n for n in catalogue.names() if n.startswith('10/')]\n"
        "assert len(tasks) == 7\n"
        "print(all(check(t, judges.task(t).answer, seed=0).points for t in tasks), "
        "'jax' in sys.modules)"
    )
    # On a busy machine compiling takes so long that the check says how to stop it: a line before.
    assert in_a_fresh_python(code).splitlines()[-1] == "True False"


@pytest.mark.parametrize(
    "statement",
    [
        "from course_lib import jax_model",
        "from course_lib import flax_model",
        "from course_tasks import check; check('10/head', lambda parameters, x: x)",
    ],
)
def test_missing_jax_says_how_to_get_it(statement):
    code = (
        "import sys\n"
        "sys.modules['jax'] = None\n"
        "from course_lib.errors import JaxMissingError\n"
        f"try:\n    {statement}\n"
        "except JaxMissingError as error:\n    print(error)"
    )
    said = in_a_fresh_python(code)
    assert 'pip install -e ".[jax]"' in said
    assert "jax is not installed" in said


def test_answer_that_raises_jax_missing_is_no_answer():
    def answer(parameters, x):
        raise JaxMissingError(ImportError(name="jax"))

    with pytest.raises(JaxMissingError):
        check("10/head", answer, seed=0)
