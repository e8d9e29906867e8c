# %% after-each
import functools


class Callable:
    def __init__(self, function):
        self.function = function

    def __call__(self, *given, **named):
        return self.function(*given, **named)


NAME = functools.partial(Callable(NAME))
