# %% top
print("x" * 20_000_000)
