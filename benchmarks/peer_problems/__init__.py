"""Problems that both our tasks and `torch-judge` have, each with the same right and wrong answers,
written once on plain tensors. Nothing of `torch-judge`'s code is here.
"""

from benchmarks.peer_problems.approximation import DRAFTS, QUANTIZE
from benchmarks.peer_problems.attention import ATTENTION, CAUSAL, MULTI_HEAD
from benchmarks.peer_problems.block import BLOCK, GATE
from benchmarks.peer_problems.chance import DROPOUT, TOP_K, TOP_P
from benchmarks.peer_problems.inference import CACHE, GROUPS, STREAM
from benchmarks.peer_problems.positions import ROTARY
from benchmarks.peer_problems.problem import Answer, Problem
from benchmarks.peer_problems.rows import CROSS_ENTROPY, LAYER_NORM, SOFTMAX
from benchmarks.peer_problems.sequences import BEAM, CROSS_ATTENTION

__all__ = ["PROBLEMS", "Answer", "Problem"]

PROBLEMS = (
    SOFTMAX,
    CROSS_ENTROPY,
    ATTENTION,
    CAUSAL,
    MULTI_HEAD,
    LAYER_NORM,
    DROPOUT,
    TOP_K,
    TOP_P,
    GATE,
    BLOCK,
    CROSS_ATTENTION,
    BEAM,
    GROUPS,
    CACHE,
    ROTARY,
    STREAM,
    QUANTIZE,
    DRAFTS,
)
