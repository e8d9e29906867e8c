"""Layers, and what they are made of."""

import sys

from ..tensor import Parameter
from . import clipping as utils
from . import functional, init
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .layers import *  # noqa: F403
from .layers import Module

Buffer = staticmethod
# `import torch.nn.utils.rnn` finds a module although it is a part of one.
sys.modules[f"{__name__}.utils"] = utils
sys.modules[f"{__name__}.utils.rnn"] = utils.rnn
sys.modules[f"{__name__}.parameter"] = sys.modules[__name__]
