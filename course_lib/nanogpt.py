"""A GPT in the names and shapes of nanoGPT, as the course's own: the same logits from its weights.

nanoGPT differs from chapter 08 in three places. It has a GELU where the course has a ReLU, so the
GPT that is made here has one, too. Its queries, keys and values come from one fused matrix, which
is cut into heads. And it may have biases there: those of keys change nothing, because a softmax
does not see what all scores of a row share; those of values reach the output unchanged, because
weights sum to 1, so the projection's bias takes them in; those of queries have no place.

Source: Karpathy's nanoGPT, file model.py, for the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from course_lib.config import Config
from course_lib.errors import CheckpointError
from course_lib.model import GPT, FeedForward

# What a layer is called there and here; `{}` is its block.
_NAMES = {
    "transformer.wte": "embedding.tokens",
    "transformer.wpe": "embedding.positions",
    "transformer.h.{}.ln_1": "blocks.{}.attention_norm",
    "transformer.h.{}.attn.c_proj": "blocks.{}.attention.projection",
    "transformer.h.{}.ln_2": "blocks.{}.feed_forward_norm",
    "transformer.h.{}.mlp.c_fc": "blocks.{}.feed_forward.layers.0",
    "transformer.h.{}.mlp.c_proj": "blocks.{}.feed_forward.layers.2",
    "transformer.ln_f": "norm",
    "lm_head": "output",
}
_FUSED = re.compile(r"transformer\.h\.(\d+)\.attn\.c_attn\.(weight|bias)")
_MASK = re.compile(r"transformer\.h\.\d+\.attn\.(masked_)?bias")  # a buffer, not learned


def with_gelu(model: GPT) -> GPT:
    """The model itself, after its ReLUs have become GELUs."""
    for part in model.modules():
        if isinstance(part, FeedForward):
            part.layers[1] = nn.GELU()
    return model


def gpt_of(state: Mapping[str, Any], n_head: int | None = None) -> GPT:
    """The course's GPT with the weights of a nanoGPT.

    Parameters
    ----------
    state : mapping
        What `model.state_dict()` gives there, or the whole of a `ckpt.pt`, as
        `torch.load(path, weights_only=True)` gives it.
    n_head : int, optional
        H, which no shape tells. A `ckpt.pt` knows it.

    Returns
    -------
    GPT
        In evaluation mode, with copies of the weights. Output and embedding are tied where they
        are equal, and biases that the state has not are 0.

    Raises
    ------
    CheckpointError
        Names each part of the state that has no place, each that is missing, and each whose shape
        is another. Nothing is made then.
    ConfigError
        If H does not divide C.
    """
    if "model_args" in state:
        n_head = n_head or state["model_args"].get("n_head")
        state = state["model"]
    if n_head is None:
        raise CheckpointError(
            "n_head = None: how many heads there are stands in no shape; say gpt_of(state, n_head)"
        )
    theirs = {  # a compiled model's names begin with _orig_mod
        name.removeprefix("_orig_mod."): tensor.detach().cpu()
        for name, tensor in state.items()
        if not _MASK.fullmatch(name.removeprefix("_orig_mod."))
    }
    tables = [theirs.get(f"transformer.{name}.weight") for name in ("wte", "wpe")]
    if tables[0] is None or tables[1] is None:
        raise CheckpointError(
            "this is no state of a nanoGPT: transformer.wte.weight and transformer.wpe.weight, "
            f"which give V, C and block_size, are not both among {sorted(theirs)[:4]} …"
        )
    (V, C), block_size = tables[0].shape, len(tables[1])
    output = theirs.setdefault("lm_head.weight", tables[0])
    blocks = [
        int(found[1]) for name in theirs if (found := re.match(r"transformer\.h\.(\d+)", name))
    ]
    tied = torch.equal(output, tables[0])
    model = GPT(Config(V, block_size, max(blocks, default=-1) + 1, n_head, C, tied=tied))
    ours = _renamed(theirs, model)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(ours[name])
    return with_gelu(model).eval()


def _renamed(theirs: Mapping[str, Tensor], model: GPT) -> dict[str, Tensor]:
    """Their weights under our names, checked against our shapes."""
    ours = {name: torch.zeros_like(t) for name, t in model.state_dict().items()}
    wrong, C = [], model.config.n_embd
    missing = {name for name in ours if not name.endswith("bias")}
    for name, tensor in theirs.items():
        layer, _, kind = name.rpartition(".")
        block = re.search(r"\.h\.(\d+)\.", name)
        place = _NAMES.get(re.sub(r"\.h\.\d+\.", ".h.{}.", layer), "")
        place = f"{place.format(block[1] if block else '')}.{kind}"
        fused = _FUSED.fullmatch(name)
        expected = (3 * C, C)[: tensor.ndim] if fused else tuple(ours.get(place, tensor).shape)
        if not fused and place not in ours:
            wrong.append(f"{name} {tuple(tensor.shape)} has no place in the course's GPT")
        elif tuple(tensor.shape) != expected:
            turned = tuple(tensor.shape) == expected[::-1]
            how = "; Hugging Face stores it transposed, so give its .t()" if turned else ""
            wrong.append(f"{name} is {tuple(tensor.shape)}, expected {expected}{how}")
        elif not fused:
            ours[place] = tensor
            missing.discard(place)
        elif fused[2] == "bias":
            if tensor[:C].any():
                wrong.append(
                    f"{name} has query biases up to {float(tensor[:C].abs().max()):.2g}, "
                    "which have no place: the course's queries have none"
                )
        else:
            heads = tensor.split(model.config.head_size)  # 3H × (D, C)
            parts = [
                (part, h) for part in ("query", "key", "value") for h in range(len(heads) // 3)
            ]
            for (part, h), rows in zip(parts, heads, strict=True):
                place = f"blocks.{fused[1]}.attention.heads.{h}.{part}.weight"
                ours[place] = rows
                missing.discard(place)
    wrong += [f"nothing gives {name}" for name in sorted(missing)]
    if wrong:
        more = f"; and {len(wrong) - 4} more" if len(wrong) > 4 else ""
        raise CheckpointError(f"{'; '.join(wrong[:4])}{more}. Nothing was loaded")
    for name, tensor in theirs.items():
        if (fused := _FUSED.fullmatch(name)) and fused[2] == "bias":
            projection = f"blocks.{fused[1]}.attention.projection"
            found = ours[f"{projection}.weight"] @ tensor[2 * C :]  # (C, C) @ (C,)
            ours[f"{projection}.bias"] = ours[f"{projection}.bias"] + found
    return ours
