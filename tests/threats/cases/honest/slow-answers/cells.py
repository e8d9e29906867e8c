# %% after-each
import time


def slowly(own):
    def answer(*given, **named):
        time.sleep(0.01)
        return own(*given, **named)

    return answer


NAME = slowly(NAME)
