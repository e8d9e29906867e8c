"""Chapter 10, the same model in JAX: what its tasks ask and how their answers are judged."""

REQUIRES = ("jax", "flax", "optax")
"""Packages of the extra `jax`, with which answers are written."""
