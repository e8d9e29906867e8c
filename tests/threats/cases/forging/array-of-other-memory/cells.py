# %% answer
class Elsewhere:
    __array_interface__ = {"data": (8, True), "shape": (2**20,), "typestr": "<f8", "version": 3}

    def __array__(self, *_, **__):
        raise NotImplementedError


def NAME(*given, **named):
    return Elsewhere()
