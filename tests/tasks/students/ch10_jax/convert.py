"""Students' answers to 10/convert."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

from students.ch10_jax.shared import ORDER


class ByReshape:
    def __init__(self, n_head):
        self.n_head = n_head

    def heads(self, third):
        return jnp.array(third.reshape(self.n_head, -1, third.shape[1]).swapaxes(1, 2))

    def back(self, matrices):
        return np.concatenate([np.array(m).T for m in matrices])

    def tensor(self, array):
        return torch.tensor(np.array(array))

    turn = staticmethod(lambda m: m.T)
    turn_back = staticmethod(lambda m: m.T)
    order = (0, 1, 2)

    def to_tree(self, state):
        state = {name: tensor.detach().numpy() for name, tensor in state.items()}
        thirds = np.split(state["query_key_value.weight"], 3)
        return {
            "heads": {n: self.heads(thirds[i]) for n, i in zip(ORDER, self.order, strict=True)},
            "projection": {
                "weight": jnp.array(self.turn(state["projection.weight"])),
                "bias": jnp.array(state["projection.bias"]),
            },
        }

    def to_state(self, tree):
        rows = np.concatenate([self.back(tree["heads"][n]) for n in ORDER])
        return {
            "query_key_value.weight": self.tensor(rows),
            "projection.weight": self.tensor(self.turn_back(tree["projection"]["weight"])),
            "projection.bias": self.tensor(tree["projection"]["bias"]),
        }


class ByEinsum(ByReshape):
    def heads(self, third):
        return jnp.einsum("hdc->hcd", third.reshape(self.n_head, -1, third.shape[1]))

    def back(self, matrices):
        return jnp.moveaxis(matrices, 1, 2).reshape(-1, matrices.shape[1])


class ByLoops(ByReshape):
    def heads(self, third):
        D = len(third) // self.n_head
        return jnp.stack([third[h * D : (h + 1) * D].T for h in range(self.n_head)])

    def tensor(self, array):
        return torch.tensor(np.asarray(array).tolist())


def converter(**changes):
    return type("Changed", (ByReshape,), changes)


class HeadByHead(ByReshape):
    def to_tree(self, state):
        rows = state["query_key_value.weight"].numpy()
        C = rows.shape[1]
        parts = rows.reshape(self.n_head, 3, -1, C).transpose(1, 0, 3, 2)
        tree = super().to_tree(state)
        return {**tree, "heads": dict(zip(ORDER, map(jnp.array, parts), strict=True))}


class ConverterScaffold:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        raise NotImplementedError

    def to_state(self, tree):
        raise NotImplementedError


class HeadByHeadBack(ByReshape):
    def to_state(self, tree):
        parts = np.stack([np.array(tree["heads"][n]) for n in ORDER], axis=1)  # (H, 3, C, D)
        rows = np.concatenate([part.T for head in parts for part in head])
        return {**super().to_state(tree), "query_key_value.weight": torch.tensor(rows)}


class ValuesBeforeKeysBack(ByReshape):
    def to_state(self, tree):
        rows = np.concatenate([self.back(tree["heads"][n]) for n in ("query", "value", "key")])
        return {**super().to_state(tree), "query_key_value.weight": self.tensor(rows)}


class InTheirOrderBack(ByReshape):
    def to_state(self, tree):
        heads = jnp.stack([*tree["heads"].values()])  # (3, H, C, D)
        rows = jnp.einsum("nhcd->nhdc", heads).reshape(-1, heads.shape[2])
        return {**super().to_state(tree), "query_key_value.weight": self.tensor(rows)}


class UnpacksTheProjection(ByReshape):
    def to_state(self, tree):
        weight, bias = (self.tensor(entry) for entry in tree["projection"].values())
        whole = super().to_state(tree)
        return {**whole, "projection.weight": weight.t(), "projection.bias": bias}


class Pops(ByReshape):
    def to_tree(self, state):
        return super().to_tree({name: state.pop(name) for name in list(state)})


class PopsTheBias(ByReshape):
    def to_state(self, tree):
        bias = tree["projection"].pop("bias")
        whole = {**tree, "projection": {**tree["projection"], "bias": bias}}
        return super().to_state(whole)


class Squeezes(ByReshape):
    """Drops the axis of heads, or of channels, where there is one."""

    def to_tree(self, state):
        tree = super().to_tree(state)
        return {**tree, "heads": {n: m.squeeze() for n, m in tree["heads"].items()}}


class WithoutBias(ByReshape):
    def to_state(self, tree):
        state = super().to_state(tree)
        return {**state, "projection.bias": torch.zeros(len(state["projection.bias"]))}


class TransposesBeforeCutting(ByReshape):
    """Transposes the fused weight before it cuts it, and back after it has joined all parts."""

    def to_tree(self, state):
        C = len(state["projection.bias"])
        columns = jnp.array(state["query_key_value.weight"].numpy().T)
        parts = columns.reshape(3, self.n_head, C, -1)
        return {**super().to_tree(state), "heads": dict(zip(ORDER, parts, strict=True))}


class TransposesAfterJoining(ByReshape):
    def to_state(self, tree):
        parts = jnp.stack([tree["heads"][n] for n in ORDER])  # (3, H, C, D)
        rows = parts.reshape(parts.shape[2], -1).T
        return {**super().to_state(tree), "query_key_value.weight": self.tensor(rows)}


class TransposesOutside(TransposesBeforeCutting, TransposesAfterJoining):
    """Fits on the way there and back, as both are wrong."""


RIGHT = {"reshape": ByReshape, "einsum": ByEinsum, "loops": ByLoops}


def numpy_heads(self, third):
    return np.array(ByReshape.heads(self, third))


class RemembersTheWidth(ByReshape):
    """Goes back with what it saw on the way there."""

    def to_tree(self, state):
        self.width = state["projection.bias"].shape[0]
        return super().to_tree(state)

    def to_state(self, tree):
        state = super().to_state(tree)
        rows = state["query_key_value.weight"].view(-1, self.width)
        return {**state, "query_key_value.weight": rows}


WRONG = {
    "remembers-the-way": RemembersTheWidth,
    "heads-reshaped": converter(
        heads=lambda self, m: jnp.array(m.reshape(self.n_head, m.shape[1], -1))
    ),
    "heads-not-transposed": converter(
        heads=lambda self, m: jnp.array(m.reshape(self.n_head, -1, m.shape[1]))
    ),
    "transposed-before-cutting": TransposesOutside,
    "thirds-transposed-before-cutting": converter(
        heads=lambda self, m: jnp.array(m.T.reshape(self.n_head, len(m), -1))
    ),
    "heads-dealt-out": converter(
        heads=lambda self, m: jnp.stack([m[h :: self.n_head].T for h in range(self.n_head)])
    ),
    "head-by-head": HeadByHead,
    "values-first": converter(order=(1, 2, 0)),
    "projection-not-transposed": converter(turn=staticmethod(lambda m: m)),
    "heads-reshaped-back": converter(back=lambda self, m: np.array(m).reshape(-1, m.shape[1])),
    "transposed-after-joining-back": TransposesAfterJoining,
    "thirds-transposed-after-joining-back": converter(
        back=lambda self, m: np.array(m).reshape(m.shape[1], -1).T
    ),
    "heads-side-by-side-back": converter(back=lambda self, m: np.hstack([*map(np.array, m)])),
    "heads-dealt-out-back": converter(
        back=lambda self, m: np.einsum("hcd->dhc", m).reshape(-1, m.shape[1])
    ),
    "head-by-head-back": HeadByHeadBack,
    "thirds-in-another-order-back": ValuesBeforeKeysBack,
    "order-of-the-tree": InTheirOrderBack,
    "projection-not-transposed-back": converter(turn_back=staticmethod(lambda m: m)),
    "not-jax-arrays": converter(heads=numpy_heads),
    "not-tensors": converter(tensor=lambda self, a: jnp.array(a)),
    "takes-apart": Pops,
    "shares-memory": converter(tensor=lambda self, a: torch.from_dlpack(jnp.asarray(a))),
}


ODD = [
    (converter(turn=staticmethod(lambda m: -m.T)), "some-of-the-tree"),
    (WithoutBias, "some-of-the-state"),
    (PopsTheBias, "takes-apart"),
    (UnpacksTheProjection, "order-of-the-tree"),
    (Squeezes, "axis-of-one"),
    (converter(heads=lambda self, m: ByReshape.heads(self, m)[::-1]), "reversed"),
]


SCAFFOLD = ConverterScaffold


SEEDS = range(2)


# --- Answers that no list names ---


class KeysAndValuesExchanged(ByReshape):
    def to_tree(self, state):
        tree = super().to_tree(state)
        heads = tree["heads"]
        heads["key"], heads["value"] = heads["value"], heads["key"]
        return tree


class HeadsReshapedBothWays(ByReshape):
    def heads(self, third):
        return jnp.array(third.reshape(self.n_head, third.shape[1], -1))

    def back(self, matrices):
        return matrices.reshape(-1, matrices.shape[1])


class ProjectionTransposedNeitherWay(ByReshape):
    turn = turn_back = staticmethod(lambda m: m)


class LeavesInAlphabeticalOrder(ByReshape):
    """Stacks the leaves of the heads, which come as key, query, value, on the way back."""

    def to_state(self, tree):
        rows = np.concatenate([self.back(matrices) for matrices in jax.tree.leaves(tree["heads"])])
        return {**super().to_state(tree), "query_key_value.weight": self.tensor(rows)}


UNLISTED = {
    1: [(KeysAndValuesExchanged, "exchanged")],
    3: [(HeadsReshapedBothWays, "heads-reshaped")],
    4: [(ProjectionTransposedNeitherWay, "projection-not-transposed")],
    13: [(LeavesInAlphabeticalOrder, "thirds-in-another-order-back")],
}
