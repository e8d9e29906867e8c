# %% top
while True:
    pass
