"""What the tasks of chapter 10 ask: inputs and calls, no answers.

Inputs are drawn as NumPy arrays and become JAX arrays beside the student's code; `sides` says what
a judge gets in their place.
"""

from __future__ import annotations

from course_tasks.ch10_jax import attention, training
from course_tasks.probing import Probe

PROBES: dict[str, Probe] = {
    "head": attention.HEAD,
    "heads": attention.HEADS,
    "step": training.STEP,
    "keys": training.KEYS,
    "mask": training.MASK,
    "convert": attention.CONVERT,
}
