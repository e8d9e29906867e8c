# %% top
held = [bytearray(2**26) for _ in range(48)]
held = [b"x" * 2**26 for _ in range(48)]
