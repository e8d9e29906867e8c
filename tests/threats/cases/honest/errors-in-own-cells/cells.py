# %% top
1 / 0

# %% bottom
def (

# %% bottom
raise NotImplementedError
