# %% before-each
def NAME(*given, **named):
    return None
