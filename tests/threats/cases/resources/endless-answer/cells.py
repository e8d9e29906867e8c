# %% answer
def NAME(*given, **named):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
