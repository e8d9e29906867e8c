# %% answer
def NAME(*given, **named):
    raise KeyboardInterrupt
