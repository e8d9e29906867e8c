"""The module: parameters, buffers and modules by name."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict, namedtuple

from .. import dtypes
from ..autograd import no_grad
from ..tensor import Parameter, Tensor

_numbers = itertools.count()

IncompatibleKeys = namedtuple("IncompatibleKeys", "missing_keys unexpected_keys")


class RemovableHandle:
    """What a registered hook can be taken away with."""

    def __init__(self, hooks):
        self.id = next(_numbers)
        self._hooks = weakref.ref(hooks)

    def remove(self):
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class _Hooks(OrderedDict):
    """Hooks by number; a class of its own, so that a handle can refer to it weakly."""


class Module:
    """What has parameters and computes something."""

    training = True
    _version = 1

    def __init__(self, *args, **kwargs):
        set_ = object.__setattr__
        set_(self, "training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            set_(self, name, {})
        set_(self, "_non_persistent_buffers_set", set())
        set_(self, "_forward_hooks", _Hooks())
        set_(self, "_forward_pre_hooks", _Hooks())
        set_(self, "_backward_hooks", _Hooks())
        set_(self, "_with_kwargs", set())

    def forward(self, *_):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args, **named):
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **named)
        for number, hook in list(self._forward_pre_hooks.items()):
            if number in self._with_kwargs:
                changed = hook(self, args, named)
                if changed is not None:
                    args, named = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **named)
        for number, hook in list(self._forward_hooks.items()):
            given = (args, named) if number in self._with_kwargs else (args,)
            changed = hook(self, *given, result)
            if changed is not None:
                result = changed
        return result

    def _register(self, hooks, hook, prepend, with_kwargs):
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        if with_kwargs:
            self._with_kwargs.add(handle.id)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._register(self._forward_hooks, hook, prepend, with_kwargs)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._register(self._forward_pre_hooks, hook, prepend, with_kwargs)

    # Attributes

    def __setattr__(self, name, value):
        held = self.__dict__
        if isinstance(value, Parameter):
            self._ready("parameters")
            self._forget(name)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._ready("module")
            self._forget(name)
            self._modules[name] = value
        elif "_parameters" in held and name in held["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_full_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif "_modules" in held and name in held["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_full_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif "_buffers" in held and name in held["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_full_name(value)}' object to buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None required)"
                )
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _ready(self, what):
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name):
        self.__dict__.pop(name, None)
        for held in (self._parameters, self._buffers, self._modules):
            held.pop(name, None)

    def __getattr__(self, name):
        held = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind in held and name in held[kind]:
                return held[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for held in (self._parameters, self._buffers, self._modules):
            if name in held:
                del held[name]
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name, param):
        self._ready("parameters")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_full_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    # What is inside

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _named(self, kind, prefix, recurse, remove_duplicate=True):
        seen = set()
        owners = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in owners:
            for name, value in getattr(module, kind).items():
                if value is None or (remove_duplicate and id(value) in seen):
                    continue
                seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target):
        found = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._parameters[name]

    def get_buffer(self, target):
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._buffers[name]

    # State

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        found = OrderedDict() if destination is None else destination
        for name, parameter in self._parameters.items():
            if parameter is not None:
                found[prefix + name] = parameter if keep_vars else parameter.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                found[prefix + name] = buffer if keep_vars else buffer.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return found

    def load_state_dict(self, state_dict, strict=True, assign=False):
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = []
        if strict and unexpected:
            named = ", ".join(f'"{name}"' for name in unexpected)
            wrong.append(f"Unexpected key(s) in state_dict: {named}. ")
        if strict and missing:
            named = ", ".join(f'"{name}"' for name in missing)
            wrong.append(f"Missing key(s) in state_dict: {named}. ")
        with no_grad():
            for name, value in own.items():
                if name not in state_dict:
                    continue
                given = state_dict[name]
                if tuple(given.shape) != tuple(value.shape):
                    wrong.append(
                        f"size mismatch for {name}: copying a param with shape {given.shape} from "
                        f"checkpoint, the shape in current model is {value.shape}."
                    )
                else:
                    value.copy_(given)
        if wrong:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(wrong)
            )
        return IncompatibleKeys(missing, unexpected)

    # Modes and types

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.zero_()

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn):
        for held in [*self.parameters(), *self.buffers()]:
            held._a = fn(held)._a
            if held.grad is not None:
                held.grad._a = fn(held.grad)._a
        return self

    def to(self, *args, **named):
        for one in (*args, *named.values()):
            if isinstance(one, str | dtypes.device):
                dtypes.only_cpu(one)
        kinds = [one for one in (*args, *named.values()) if isinstance(one, dtypes.dtype)]
        if not kinds:
            return self
        return self._apply(lambda t: t.detach().to(kinds[0]) if t.is_floating_point() else t)

    def float(self):
        return self.to(dtypes.float32)

    def double(self):
        return self.to(dtypes.float64)

    def half(self):
        return self.to(dtypes.float16)

    def type(self, dst_type):
        return self.to(dst_type)

    def cpu(self):
        return self

    def compile(self, *_, **__):
        return None

    def share_memory(self):
        return self

    # In words

    def extra_repr(self):
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        lines = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        extra = self.extra_repr()
        if not lines:
            return f"{self._get_name()}({extra})"
        return (
            f"{self._get_name()}(\n  " + "\n  ".join([*([extra] if extra else []), *lines]) + "\n)"
        )


def _full_name(value):
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"
