"""Students' answers to 12/seconds."""

import torch

NAMES = ("embedding", "attention", "feed_forward", "output")


def replacing(
    model,
    prompt,
    count,
    clock,
    *,
    layers=slice(None),
    warm=1,
    reset=True,
    restore=True,
    keep=sum,
    elsewhere="rest",
    crop=True,
    show=lambda text: text,
    append=True,
    late=True,
    put_back=False,
):
    """Exchanges each part's forward for one that looks at the clock."""
    taken = {name: [] for name in NAMES}
    changed = []

    def watch(part, name):
        original = part.forward

        def forward(*args):
            start = clock()
            out = original(*args)
            taken[name].append(clock() - start)
            return out

        part.forward = forward
        changed.append((part, original))

    watch(model.embedding, "embedding")
    watch(model.output, "output")
    for block in list(model.blocks)[layers]:
        watch(block.attention, "attention")
        watch(block.feed_forward, "feed_forward")

    def look(text):
        text = show(text)
        return model(text[:, -model.block_size :] if crop else text)[0]

    early = clock()
    for _ in range(warm):
        look(prompt)
    if reset:
        for name in NAMES:
            taken[name].clear()
    text, start = prompt.clone(), clock()
    for _ in range(count):
        symbol = look(text)[:, -1].argmax(-1, keepdim=True)
        if append:
            text = torch.cat([text, symbol], 1)
    total = clock() - (start if late else early)
    if restore:
        for part, original in changed:
            if put_back:
                part.forward = original
            else:
                del part.forward
    found = {name: keep(times) for name, times in taken.items()}
    found["elsewhere"] = total - sum(found.values()) if elsewhere == "rest" else total
    return found


def hooking(model, prompt, count, clock, *, remove=True):
    found = dict.fromkeys([*NAMES, "elsewhere"], 0.0)
    stack, handles = [], []
    counting = False

    def before(*_):
        stack.append(clock())

    def after(name):
        def hook(*_):
            took = clock() - stack.pop()
            if counting:
                found[name] += took
                found["elsewhere"] -= took

        return hook

    for path, module in model.named_modules():
        name = path.split(".")[-1]
        if name in NAMES:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after(name)))
    model(prompt)
    counting = True
    text, start = prompt, clock()
    for _ in range(count):
        logits = model(text[:, -model.block_size :])[0]
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
    found["elsewhere"] += clock() - start
    if remove:
        for handle in handles:
            handle.remove()
    return found


def by_differences(model, prompt, count, clock):
    """Writes down when each part begins and ends, and adds up afterwards."""
    log, handles = [], []
    parts = [("embedding", model.embedding), ("output", model.output)]
    for block in model.blocks:
        parts += [("attention", block.attention), ("feed_forward", block.feed_forward)]
    for name, part in parts:
        handles += [
            part.register_forward_pre_hook(lambda *_, n=name: log.append((n, -clock()))),
            part.register_forward_hook(lambda *_, n=name: log.append((n, clock()))),
        ]
    model(prompt[:, -model.block_size :])
    del log[:]
    symbols, start = prompt[0].tolist(), clock()
    for _ in range(count):
        logits, _ = model(torch.tensor([symbols[-model.block_size :]]))
        symbols.append(int(logits[0, -1].argmax()))
    whole = clock() - start
    for handle in handles:
        handle.remove()
    found = {name: sum(t for n, t in log if n == name) for name in NAMES}
    return found | {"elsewhere": whole - sum(found.values())}


def averaged(model, prompt, count, clock):
    return {name: s / count for name, s in hooking(model, prompt, count, clock).items()}


def with_(**how):
    return lambda *given: replacing(*given, **how)


RIGHT = {
    "exchanged": replacing,
    "exchanged, put back": with_(put_back=True),
    "hooks": hooking,
    "log": by_differences,
}


def after_the_first_symbol(more):
    """The first call's symbol is in the text, and `more` symbols than `count` are written after."""

    def answer(model, prompt, count, clock):
        logits, _ = model(prompt[:, -model.block_size :])
        text = torch.cat([prompt, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        return replacing(model, text, count + more, clock, warm=0, restore=True)

    return answer


def from_the_front(model, prompt, count, clock):
    return replacing(
        model, prompt, count, clock, crop=False, show=lambda text: text[:, : model.block_size]
    )


def under_the_last_name(model, prompt, count, clock):
    """The hooks of a loop look up its variable when they are called."""
    found, began, handles = dict.fromkeys(NAMES, 0.0), {}, []
    for name in NAMES:
        for path, part in model.named_modules():
            if path.split(".")[-1] != name:
                continue

            def behind(part, *_):
                found[name] += clock() - began[part]  # noqa: B023 – this is the slip

            handles += [
                part.register_forward_pre_hook(lambda part, _: began.update({part: clock()})),
                part.register_forward_hook(behind),
            ]
    model(prompt)
    found.update(dict.fromkeys(NAMES, 0.0))
    text, start = prompt, clock()
    for _ in range(count):
        logits = model(text[:, -model.block_size :])[0]
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    return found | {"elsewhere": whole - sum(found.values())}


def attention_under_feed_forward(*given):
    found = replacing(*given)
    both = found["attention"] + found["feed_forward"]
    return found | {"attention": 0.0, "feed_forward": both}


def hooked_again(model, prompt, count, clock):
    """Hooks in each call, all of which are removed at the end."""
    began, found, handles = {}, dict.fromkeys(NAMES, 0.0), []

    def behind(name):
        def hook(part, *_):
            found[name] += clock() - began[part]

        return hook

    model(prompt)
    text, start = prompt, clock()
    for _ in range(count):
        for path, part in model.named_modules():
            if (name := path.split(".")[-1]) in NAMES:
                handles += [
                    part.register_forward_pre_hook(lambda part, _: began.update({part: clock()})),
                    part.register_forward_hook(behind(name)),
                ]
        logits = model(text[:, -model.block_size :])[0]
        text = torch.cat([text, logits[:, -1].argmax(-1)[:, None]], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    return found | {"elsewhere": whole - sum(found.values())}


def swapped_names(*given):
    found = hooking(*given)
    return found | {"embedding": found["output"], "output": found["embedding"]}


def window_of_the_prompt(model, prompt, *given):
    return replacing(model, prompt, *given, show=lambda text: text[:, -prompt.shape[1] :])


def _timed(model, prompt, count, clock, *, begin=0, cut=True, elsewhere=True):
    names = {"embedding": [model.embedding], "output": [model.output]}
    names["attention"] = [block.attention for block in model.blocks]
    names["feed_forward"] = [block.feed_forward for block in model.blocks]
    seconds, began, handles = dict.fromkeys(names, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, modules in names.items():
        for module in modules:
            handles += [
                module.register_forward_pre_hook(before),
                module.register_forward_hook(after(name)),
            ]
    model(prompt[:, -model.block_size :])  # the first pass of all takes longer
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count + begin):
        logits, _ = model(text[:, -model.block_size :] if cut else text)
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    seconds["elsewhere"] = whole - sum(seconds.values()) if elsewhere else whole
    return seconds


def shares_for_seconds(model, prompt, count, clock):
    seconds = _timed(model, prompt, count, clock)
    whole = sum(seconds.values())
    return {name: each / whole for name, each in seconds.items()}


def first_block_only(model, prompt, count, clock):
    seconds = _timed(model, prompt, count, clock)
    for name in ("attention", "feed_forward"):
        part = seconds[name] / len(model.blocks)
        seconds["elsewhere"] += seconds[name] - part
        seconds[name] = part
    return seconds


def one_step_too_few(model, prompt, count, clock):
    return _timed(model, prompt, count, clock, begin=-1)


def timed(model, prompt, count, clock, finish):
    parts = {"embedding": [model.embedding], "output": [model.output]}
    parts["attention"] = [block.attention for block in model.blocks]
    parts["feed_forward"] = [block.feed_forward for block in model.blocks]
    seconds, began, handles = dict.fromkeys(parts, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, modules in parts.items():
        for module in modules:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after(name)))
    model(prompt[:, -model.block_size :])
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    finish(handles, [module for modules in parts.values() for module in modules])
    return seconds


# "Leave the model as you found it": a hook that somebody else had put there is gone, too.
def clears_every_hook(model, prompt, count, clock):
    def finish(handles, modules):
        for module in modules:
            module._forward_pre_hooks.clear()
            module._forward_hooks.clear()

    return timed(model, prompt, count, clock, finish)


# "Leave the model as you found it": it was perhaps in training mode.
def leaves_evaluation_mode(model, prompt, count, clock):
    model.eval()

    def finish(handles, modules):
        for handle in handles:
            handle.remove()

    return timed(model, prompt, count, clock, finish)


WRONG = {
    "under-the-last-name": under_the_last_name,
    "first-symbol-not-timed": after_the_first_symbol(-1),
    "first-symbol-kept": after_the_first_symbol(0),
    "reads-the-beginning": from_the_front,
    "shares-of-the-whole": shares_for_seconds,
    "mean-of-the-blocks": first_block_only,
    "one-symbol-too-few": one_step_too_few,
    "one-symbol-too-many": lambda model, prompt, count, clock: hooking(
        model, prompt, count + 1, clock
    ),
    "warm-up-in-elsewhere": with_(late=False),
    "others-hooks-removed": clears_every_hook,
    "first-call-counted": with_(warm=0),
    "warm-up-in-the-parts": with_(reset=False),
    "last-call-alone": with_(keep=lambda times: times[-1]),
    "longest-call-alone": with_(keep=max),
    "one-block-missing": with_(layers=slice(1, None)),
    "hooks-in-every-call": hooked_again,
    "first-block-alone": with_(layers=slice(0, 1)),
    "last-block-alone": with_(layers=slice(-1, None)),
    "text-does-not-grow": with_(append=False),
    "last-symbol-alone": with_(show=lambda text: text[:, -1:]),
    "parts-counted-twice": with_(elsewhere="all"),
    "mean-of-the-calls": averaged,
    "reads-more-than-fits": with_(crop=False),
    "left-in-evaluation": leaves_evaluation_mode,
    "left-in-training": lambda model, *given: by_differences(model.train(), *given),
    "hooks-left": lambda *given: hooking(*given, remove=False),
}


ODD = [
    (lambda *given: {**hooking(*given), "elsewhere": 0.0}, "other-seconds"),
    (swapped_names, "exchanged"),
    (window_of_the_prompt, "other-seconds"),
    (attention_under_feed_forward, "under-the-last-name"),
    (with_(restore=False), "hooks-left"),
    (
        lambda model, prompt, count, clock: hooking(model, prompt, 2 * count, clock),
        "other-seconds",
    ),
    (lambda model, prompt, count, clock: {}, "type"),
    (
        lambda model, prompt, count, clock: dict.fromkeys((*NAMES, "elsewhere"), 1.0),
        "all-alike",
    ),
]
