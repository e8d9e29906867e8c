# %% top
import numpy

held = [numpy.zeros(2**26, dtype="uint8") for _ in range(48)]
held = bytearray(48 * 2**26)
