# %% answer
def NAME(*given, **named):
    whole = []
    whole.append(whole)
    return whole
