# %% answer
class Stays:
    def __del__(self):
        while True:
            pass


def NAME(*given, **named):
    Stays()
    return 0
