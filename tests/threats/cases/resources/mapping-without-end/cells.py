# %% answer
import collections.abc


class Endless(collections.abc.Mapping):
    def __getitem__(self, key):
        return 0

    def __len__(self):
        return 1

    def __iter__(self):
        number = 0
        while True:
            yield number
            number += 1


def NAME(*given, **named):
    return Endless()
