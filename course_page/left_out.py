"""Tasks that a page leaves to `make lab`, each with the reason that it gives."""

_JAX = "It is written in JAX, which has no version that runs in a page."

LEFT_OUT: dict[str, str] = {
    "10/convert": _JAX,
    "10/head": _JAX,
    "10/heads": _JAX,
    "10/keys": _JAX,
    "10/mask": _JAX,
    "10/step": _JAX,
    "10/traces": _JAX,
}
"""Task to one sentence: why there is no check for it in a page."""

SLOW: dict[str, str] = {
    "08/train": "A check of it trains a model, which takes about half a minute in a page.",
    "my-gpt/train": "A check of it trains a model, which takes about half a minute in a page.",
    "my-gpt/write": "A check of it trains a model and writes with it, which takes a while.",
}
"""Task to one sentence: a check that takes longer than an answer that hangs is given."""
