"""Gradients: what is recorded of each operation, and the way back through it."""

from __future__ import annotations

import functools

import numpy as np


class _Recording:
    on = True


class _Mode:
    """A context, and a decorator, in which operations are recorded or not."""

    on = False

    def __init__(self, mode=None):
        self.function = None
        if callable(mode) and not isinstance(mode, bool):
            self.function = mode
            functools.update_wrapper(self, mode)
        elif mode is not None:
            self.on = self._given(mode)
        self.before = []

    def _given(self, _mode):
        return self.on

    def __enter__(self):
        self.before.append(_Recording.on)
        _Recording.on = self.on

    def __exit__(self, *_):
        _Recording.on = self.before.pop()

    def __get__(self, instance, owner):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args, **named):
        if self.function is not None:
            with type(self)():
                return self.function(*args, **named)
        (function,) = args

        @functools.wraps(function)
        def call(*args, **named):
            with type(self)(self.on):
                return function(*args, **named)

        return call


class no_grad(_Mode):
    """Nothing inside is recorded."""


class inference_mode(_Mode):
    """Nothing inside is recorded."""

    def _given(self, mode):
        return not mode if isinstance(mode, bool) else self.on


class enable_grad(_Mode):
    """What is inside is recorded."""

    on = True


class set_grad_enabled(_Mode):
    """From here on, or inside, operations are recorded or not."""

    def __init__(self, mode):
        super().__init__(None)
        self.earlier = _Recording.on
        self.on = _Recording.on = bool(mode)

    def __enter__(self):
        self.before.append(self.earlier)
        _Recording.on = self.on


def is_grad_enabled():
    """Whether operations are recorded."""
    return _Recording.on


class Node:
    """An operation that was recorded.

    Attributes
    ----------
    edges : list of Node, Tensor or None
        Where the gradient of each input goes: to the operation that made it, to a leaf, nowhere.
    back : callable (ndarray) -> sequence of ndarray or None
        The gradient of each input from that of the output.
    """

    __slots__ = ("back", "edges", "hooks", "keeper", "name", "saved")

    def __init__(self, edges, back, name=""):
        self.edges = edges
        self.back = back
        self.hooks = None
        self.keeper = None  # the tensor that asked to retain its gradient
        self.name = name
        self.saved = None  # what the way back needs, and how often it had been changed

    def check(self):
        """Refuse to go back with numbers that were changed in place since."""
        for versions, then, array in self.saved or ():
            if versions[0] != then:
                from .tensor import type_name

                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an "
                    f"inplace operation: [torch.{type_name(array)}Tensor {list(array.shape)}] is "
                    f"at version {versions[0]}; expected version {then} instead. Hint: enable "
                    "anomaly detection to find the operation that failed to compute its gradient, "
                    "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
                )

    def __repr__(self):
        return f"<{self.name or 'Operation'}Backward0>"


def edge(tensor):
    """Where a tensor's gradient goes."""
    if not tensor.requires_grad:
        return None
    return tensor if tensor._node is None else tensor._node


def versions_of(tensor):
    """How often the memory of a tensor was changed in place: a list with one number, shared by all
    of its views.
    """
    base = tensor if tensor._base is None else tensor._base
    if base._versions is None:
        base._versions = [0]
    return base._versions


def _remembered(tensor):
    versions = versions_of(tensor)
    return versions, versions[0], tensor._a  # not the tensor, which may refer to the operation


def changed(tensor):
    """Count a change in place."""
    base = tensor if tensor._base is None else tensor._base
    if base._versions is not None:
        base._versions[0] += 1


def record(result, back, *inputs, name="", saves=()):
    """Note on a result how it was made, if anything that it was made of needs a gradient.

    `saves` are the tensors whose numbers the way back needs as they are now.
    """
    if _Recording.on:
        for one in inputs:
            if one.requires_grad:
                result.requires_grad = True
                node = result._node = Node([edge(each) for each in inputs], back, name)
                if saves:
                    node.saved = [_remembered(each) for each in saves]
                break
    return result


def fit(gradient, shape):
    """Sum a gradient over the axes that broadcasting added or stretched."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    if extra:
        gradient = gradient.sum(axis=tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=stretched, keepdims=True) if stretched else gradient


def _order(roots):
    """All operations that a gradient reaches, each after all that it gets its gradient from."""
    waiting, found = {}, []
    stack = [root for root in roots if isinstance(root, Node)]
    seen = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for target in node.edges:
            if isinstance(target, Node):
                waiting[id(target)] = waiting.get(id(target), 0) + 1
                stack.append(target)
    ready = [r for r in dict.fromkeys(roots) if isinstance(r, Node) and not waiting.get(id(r))]
    while ready:
        node = ready.pop()
        found.append(node)
        for target in node.edges:
            if isinstance(target, Node):
                waiting[id(target)] -= 1
                if not waiting[id(target)]:
                    ready.append(target)
    return found


def _hooked(hooks, gradient):
    from .tensor import wrap

    for hook in list(hooks.values()):
        answer = hook(wrap(gradient))
        if answer is not None:
            gradient = answer._a
    return gradient


def flow(roots, seeds, retain):
    """Gradients from roots back to everything that they were made of.

    Parameters
    ----------
    roots : list of Tensor
    seeds : list of ndarray
        The gradient of each root.
    retain : bool
        Whether the way may be gone once more.

    Returns
    -------
    dict of int to (Node or Tensor, ndarray)
        By id, the gradient of every operation's output and of every leaf.
    """
    found = {}

    def add(target, gradient):
        held = found.get(id(target))
        found[id(target)] = (target, gradient if held is None else held[1] + gradient)

    edges = [edge(root) for root in roots]
    for target, seed in zip(edges, seeds, strict=True):
        add(target, seed)
    for node in _order(edges):
        if id(node) not in found:
            continue
        gradient = found[id(node)][1]
        if node.hooks:
            gradient = _hooked(node.hooks, gradient)
            found[id(node)] = (node, gradient)
        if node.back is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have already been freed). Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify "
                "retain_graph=True if you need to backward through the graph a second time or if "
                "you need to access saved tensors after calling backward."
            )
        node.check()
        for target, part in zip(node.edges, node.back(gradient), strict=True):
            if target is not None and part is not None:
                add(target, part)
        if not retain and node.saved:
            node.back = None
    return found


def _seeds(roots, given):
    seeds = []
    for i, root in enumerate(roots):
        if not root.requires_grad:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn"
            )
        seed = given[i] if given is not None else None
        if seed is None:
            if root._a.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            seeds.append(np.ones_like(root._a))
            continue
        if seed._a.shape != root._a.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {seed.shape} and "
                f"output[{i}] has a shape of {root.shape}."
            )
        seeds.append(seed._a)
    return seeds


def _refuse_second_order(create_graph):
    if create_graph:
        raise NotImplementedError(
            "create_graph=True: the torch of this page has no gradients of gradients; "
            "`make lab` has them"
        )


def _listed(tensors):
    return list(tensors) if isinstance(tensors, list | tuple) else [tensors]


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Add to `grad` of every leaf."""
    from .tensor import Tensor, wrap

    _refuse_second_order(create_graph)
    roots = _listed(tensors)
    seeds = _seeds(roots, None if grad_tensors is None else _listed(grad_tensors))
    wanted = None if inputs is None else {id(edge(one)) for one in _listed(inputs)}
    for target, gradient in flow(roots, seeds, bool(retain_graph)).values():
        if isinstance(target, Tensor):
            if wanted is not None and id(target) not in wanted:
                continue
            if target._hooks:
                gradient = _hooked(target._hooks, gradient)
            gradient = np.asarray(gradient, dtype=target._a.dtype).reshape(target._a.shape)
            if target.grad is None:
                target.grad = wrap(gradient.copy())
            else:
                target.grad._a += gradient
        elif target.keeper is not None:
            target.keeper.grad = wrap(gradient.copy())


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=None,
    **_,
):
    """The gradients of some tensors, and nothing is added anywhere."""
    from .tensor import wrap

    _refuse_second_order(create_graph)
    roots, asked = _listed(outputs), _listed(inputs)
    seeds = _seeds(roots, None if grad_outputs is None else _listed(grad_outputs))
    if not all(one.requires_grad for one in asked):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    found = flow(roots, seeds, bool(retain_graph))
    gradients = []
    for one in asked:
        held = found.get(id(edge(one)))
        if held is None and not allow_unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        gradients.append(None if held is None else wrap(np.array(held[1], dtype=one._a.dtype)))
    return tuple(gradients)
