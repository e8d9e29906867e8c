# %% bottom
error = None
for number in range(1000):
    try:
        try:
            raise ValueError("x" * 10_000) from error
        except ValueError as again:
            error = again
            raise
    except ValueError:
        pass
raise error
