"""How the tasks of chapter 10 are judged: right answers, and wrong ones by name.

References and mistakes are written in torch or NumPy and wrapped in `InTorch`, so that judging does
not need JAX. `sections` says where a finding sends its reader, `wording` holds sentences that
several judges use, `stepping` the training step, and `seeds` the draws of a tree.
"""
