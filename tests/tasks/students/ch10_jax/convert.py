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
    "keys-first": converter(order=(1, 0, 2)),
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


class _Converter:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        C = rows.shape[1]
        query, key, value = rows.reshape(3, self.n_head, -1, C).swapaxes(2, 3)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class TreeOfTensors(_Converter):
    def to_tree(self, state):
        return jax.tree.map(lambda leaf: torch.from_numpy(np.array(leaf)), super().to_tree(state))


class TreeOfNumpy(_Converter):
    def to_tree(self, state):
        return jax.tree.map(np.asarray, super().to_tree(state))


class KeysAndValuesExchanged(_Converter):
    def to_tree(self, state):
        tree = super().to_tree(state)
        heads = tree["heads"]
        heads["key"], heads["value"] = heads["value"], heads["key"]
        return tree


class StateOfNumpy(_Converter):
    def to_state(self, tree):
        return {name: tensor.numpy() for name, tensor in super().to_state(tree).items()}


class BiasForgotten(_Converter):
    def to_state(self, tree):
        state = super().to_state(tree)
        state["projection.bias"] = torch.zeros_like(state["projection.bias"])
        return state


class ProjectionNotTurned(_Converter):
    def to_state(self, tree):
        state = super().to_state(tree)
        state["projection.weight"] = state["projection.weight"].T.contiguous()
        return state


class _Converter_of_set_2:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        cut = rows.reshape(3, self.n_head, -1, rows.shape[1])
        query, key, value = cut.swapaxes(2, 3)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class ConverterOfHeadsFirst(_Converter_of_set_2):
    """Reads the rows as head after head, each with query, key and value."""

    def to_tree(self, state):
        tree = super().to_tree(state)
        rows = jnp.array(state["query_key_value.weight"].numpy())
        cut = rows.reshape(self.n_head, 3, -1, rows.shape[1])
        query, key, value = cut.transpose(1, 0, 3, 2)
        return {**tree, "heads": {"query": query, "key": key, "value": value}}


class ConverterToNumpy(_Converter_of_set_2):
    def to_state(self, tree):
        return {name: tensor.numpy() for name, tensor in super().to_state(tree).items()}


class ConverterThatForgetsTheBias(_Converter_of_set_2):
    def to_state(self, tree):
        state = super().to_state(tree)
        return {**state, "projection.bias": torch.zeros_like(state["projection.bias"])}


class HeadsReshapedOnly:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        query, key, value = rows.reshape(3, self.n_head, rows.shape[1], -1)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        arrays = {
            "query_key_value.weight": stacked.reshape(-1, stacked.shape[2]),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# projection: torch has (C, C) as (out, in), the tree "(in, out)"
class ProjectionNeverTransposed:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        query, key, value = rows.reshape(3, self.n_head, -1, rows.shape[1]).swapaxes(2, 3)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy()),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"],
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


# "`query_key_value.weight` (3·C, C), all queries, then all keys, then all values": back to torch
# they are written head by head.
class BackHeadByHead:
    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        import jax.numpy as jnp

        rows = jnp.array(state["query_key_value.weight"].numpy())
        C = rows.shape[1]
        query, key, value = rows.reshape(3, self.n_head, -1, C).swapaxes(2, 3)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        import jax.numpy as jnp

        heads = tree["heads"]
        stacked = jnp.stack([heads[name] for name in ("query", "key", "value")], axis=1)
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class InTheOrderOfTheTree:
    """Stacks the heads' arrays in the order in which the tree holds them,
    which need not be q, k, v.
    """

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = state["query_key_value.weight"].numpy()
        C = rows.shape[1]
        query, key, value = rows.reshape(3, self.n_head, C // self.n_head, C).swapaxes(2, 3)
        return {
            "heads": {
                "query": jnp.array(query),
                "key": jnp.array(key),
                "value": jnp.array(value),
            },
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        parts = [np.array(part).swapaxes(1, 2) for part in tree["heads"].values()]
        C = parts[0].shape[2]
        rows = np.concatenate([part.reshape(C, C) for part in parts])
        weight = np.array(tree["projection"]["weight"]).T.copy()
        return {
            "query_key_value.weight": torch.from_numpy(rows),
            "projection.weight": torch.from_numpy(weight),
            "projection.bias": torch.from_numpy(np.array(tree["projection"]["bias"])),
        }


def _tree_of(state, n_head):
    rows = jnp.array(state["query_key_value.weight"].numpy())
    query, key, value = rows.reshape(3, n_head, -1, rows.shape[1]).swapaxes(2, 3)
    return {
        "heads": {"query": query, "key": key, "value": value},
        "projection": {
            "weight": jnp.array(state["projection.weight"].numpy().T),
            "bias": jnp.array(state["projection.bias"].numpy()),
        },
    }


def _state_of(stacked, projection):
    C = stacked.shape[2]
    arrays = {
        "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
        "projection.weight": projection["weight"].T,
        "projection.bias": projection["bias"],
    }
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class LeavesInAlphabeticalOrder:
    """Stacks jax.tree.leaves of the heads, which come as key, query, value, on the way back."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        return _tree_of(state, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        return _state_of(jnp.stack(jax.tree.leaves(tree["heads"])), tree["projection"])


class WeightsPoppedFromTheState:
    """Takes the tensors out of the caller's state with pop, which leaves it empty."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        names = ("query_key_value.weight", "projection.weight", "projection.bias")
        return _tree_of({name: state.pop(name) for name in names}, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        return _state_of(stacked, tree["projection"])


class SizeRememberedFromTheWayThere:
    """Keeps C from to_tree for to_state, which fails on a converter that only goes back."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        """Dictionary of torch tensors → tree of JAX arrays."""
        self.C = state["query_key_value.weight"].shape[1]
        return _tree_of(state, self.n_head)

    def to_state(self, tree):
        """Tree of JAX arrays → dictionary of torch tensors."""
        parts = [
            tree["heads"][name].swapaxes(1, 2).reshape(self.C, self.C)
            for name in ("query", "key", "value")
        ]
        arrays = {
            "query_key_value.weight": jnp.concatenate(parts),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class TransposesBeforeCuttingOfSet14:
    """Transposes the fused weight before cutting it: the round trip fits, the tree doesn't."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        columns = jnp.array(state["query_key_value.weight"].numpy().T)
        C = columns.shape[0]
        query, key, value = columns.reshape(3, self.n_head, C, C // self.n_head)
        return {
            "heads": {"query": query, "key": key, "value": value},
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack([tree["heads"][name] for name in ("query", "key", "value")])
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.reshape(C, 3 * C).T,
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


class StacksInTheTreesOrder:
    """Stacks heads.values() in the tree's order: jax.tree.map sorts the names, key before query."""

    def __init__(self, n_head):
        self.n_head = n_head

    def to_tree(self, state):
        rows = jnp.array(state["query_key_value.weight"].numpy())
        C = rows.shape[1]
        cut = rows.reshape(3, self.n_head, C // self.n_head, C).transpose(0, 1, 3, 2)
        return {
            "heads": dict(zip(("query", "key", "value"), cut, strict=True)),
            "projection": {
                "weight": jnp.array(state["projection.weight"].numpy().T),
                "bias": jnp.array(state["projection.bias"].numpy()),
            },
        }

    def to_state(self, tree):
        stacked = jnp.stack(list(tree["heads"].values()))
        C = stacked.shape[2]
        arrays = {
            "query_key_value.weight": stacked.swapaxes(2, 3).reshape(3 * C, C),
            "projection.weight": tree["projection"]["weight"].T,
            "projection.bias": tree["projection"]["bias"],
        }
        return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


UNLISTED = {
    1: [
        (TreeOfTensors, None),
        (TreeOfNumpy, None),
        (KeysAndValuesExchanged, None),
        (StateOfNumpy, None),
        (BiasForgotten, None),
        (ProjectionNotTurned, None),
    ],
    2: [
        (ConverterOfHeadsFirst, None),
        (ConverterToNumpy, None),
        (ConverterThatForgetsTheBias, None),
    ],
    3: [(HeadsReshapedOnly, None)],
    4: [(ProjectionNeverTransposed, None)],
    5: [(BackHeadByHead, None)],
    12: [(InTheOrderOfTheTree, None)],
    13: [
        (LeavesInAlphabeticalOrder, None),
        (WeightsPoppedFromTheState, None),
        (SizeRememberedFromTheWayThere, None),
    ],
    14: [(TransposesBeforeCuttingOfSet14, None)],
    15: [(StacksInTheTreesOrder, None)],
}
