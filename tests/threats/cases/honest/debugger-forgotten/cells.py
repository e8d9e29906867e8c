# %% bottom
x = 1
breakpoint()
x = 2
