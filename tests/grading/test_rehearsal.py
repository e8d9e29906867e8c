"""What is rehearsed and imported between submissions leaves nothing that one of them could see."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import builtins, gc, json, linecache, os, random, sys, warnings
import numpy as np
import torch
from course_tasks.runner import cells
from course_tasks.runner.rehearsal import rehearse
from course_tasks.runner.zygote import Preparations

torch.set_num_threads(1)
cells.ready_for_tasks()
shell = cells.new_shell()

def seen():
    return {
        "names of the shell": sorted(shell.user_ns),
        "inputs": [list(shell.user_ns["In"]), shell.execution_count],
        "builtins": sorted(vars(builtins)),
        "hooks": [id(sys.displayhook), id(sys.excepthook), id(sys.stdout), id(sys.stderr)],
        "main module": id(sys.modules["__main__"]),
        "sources": [name for name in linecache.cache if "ipython" in name or "Cell" in name],
        "of sys": sorted(vars(sys)),
        "path": list(sys.path),
        "environment": dict(os.environ),
        "filters of warnings": len(warnings.filters),
        "random numbers": [
            hash(random.getstate()),
            np.random.get_state()[1].tolist(),
            torch.get_rng_state().tolist(),
        ],
        "default type": [str(torch.get_default_dtype()), torch.is_grad_enabled()],
    }

before = seen()
rounds = sum(1 for _ in rehearse(2))
preparations = Preparations()
preparations.learn({"tasks": ["05/head", "10/mask", "no such task"], "draws": False})
while preparations.step():
    pass
there = sorted({"course_tasks.ch05_head.head", "course_lib.training", "jax", "matplotlib"}
               & set(sys.modules))
preparations.learn({"tasks": ["05/head"], "draws": True})
while preparations.step():
    pass
gc.unfreeze()
print(json.dumps({
    "rounds": rounds,
    "imported": there,
    "draws": "matplotlib.pyplot" in sys.modules,
    "changed": [what for what, value in seen().items() if before[what] != value],
    "threads": len(os.listdir("/proc/self/task")),
    "shells": sum(type(one) is cells.Shell for one in gc.get_objects()),
    "defined": [str(one) for one in gc.get_objects()
                if type(one) is type(seen) and one.__name__ == "attend"],
    "knows": [
        cells.run_cell(shell, source)
        for source in ("assert get_ipython().user_ns is globals()", "attend", "Block")
    ],
}), file=sys.__stdout__)
"""


@pytest.mark.slow
def test_what_is_prepared_changes_nothing_that_a_submission_sees():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "rounds": 2,
        # JAX would start threads, and matplotlib waits for somebody who draws.
        "imported": ["course_lib.training", "course_tasks.ch05_head.head"],
        "draws": True,
        "changed": [],
        "threads": 1,  # a process with more than one is not safely copied
        "shells": 1,
        "defined": [],
        "knows": ["", "NameError", "NameError"],
    }
