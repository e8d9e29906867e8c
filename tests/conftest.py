"""Settings that hold for every test."""

import os

import hypothesis

# Tests run in as many processes as there are cores. With threads of their own on top, torch's would
# wait for each other most of the time. Set before torch is imported; kernels and commands inherit.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is not a broken promise: no example has to be done within a time.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")
