"""Students' answers to 11/which-head."""

import torch
import torch.nn.functional as F

from students.ch11_looking_inside.shared import cross_entropy, table


def experiment(stand=None, place=-1, choose=None, look=None):
    def answer(run, texts, targets, sources, reference):
        found = run(reference).found
        at = slice(None) if place is None else slice(-1, None)

        def loss(replaced):
            return cross_entropy(run(texts, replaced).logits[:, at], targets[:, at])

        def value(layer, head):
            new = found[layer, :, head].flatten(0, 1).mean(0)
            new = stand(new) if stand else new
            return loss({(layer, head): new}) - loss({})

        damage = table(run, value, texts)
        weights = run(texts).weights
        looks = table(
            run,
            lambda layer, head: (
                sum(
                    look(weights[layer, n, head], int(s))
                    if look
                    else weights[layer, n, head, -1, s]
                    for n, s in enumerate(sources)
                )
                / len(texts)
            ),
            texts,
        )
        most = (damage == damage.max()).nonzero()[0].tolist()
        head = tuple(choose(damage, looks) if choose else most)
        inside = (head[0] % len(damage), head[1] % damage.shape[1])
        return {"prediction": (0, 0), "damage": damage, "head": head, "looks": looks[inside]}

    return answer


def largest(values):
    return (values == values.max()).nonzero()[0].tolist()


by_table = experiment()


def one_by_one(run, texts, targets, sources, reference):
    """With a dictionary of all heads, and NumPy at the end."""
    whole, other = run(texts), run(reference)
    end = torch.arange(len(texts))

    def surprise(logits):
        return -logits[:, -1].log_softmax(-1)[end, targets[:, -1]].mean().item()

    L, _, H = whole.found.shape[:3]
    lost = {}
    for place in [(k, h) for k in range(L) for h in range(H)]:
        mean = other.found[place[0], :, place[1]].mean(dim=[0, 1])
        lost[place] = surprise(run(texts, {place: mean}).logits) - surprise(whole.logits)
    k, h = max(lost, key=lost.get)
    return {
        "prediction": "head 0 of layer 1, because its attention is the sharpest",
        "damage": torch.tensor(list(lost.values())).view(L, H).numpy(),
        "head": torch.tensor([k, h]),
        "looks": whole.weights[k, end, h, -1, sources].mean().item(),
    }


def in_double(run, texts, targets, sources, reference):
    made = by_table(run, texts, targets, sources, reference)
    return {
        "looks": float(made["looks"]),
        "head": list(made["head"]),
        "damage": made["damage"].double().tolist(),
        "prediction": None,
    }


def exchanged(made):
    return {**made, "head": made["head"][::-1]}


def loss_itself(run, texts, targets, sources, reference):
    made = by_table(run, texts, targets, sources, reference)
    whole = cross_entropy(run(texts).logits[:, -1:], targets[:, -1:])
    return {**made, "damage": made["damage"] + whole}


def put_in_place(stand=lambda found: found.mean(dim=(1, 3)), loss=None, key=lambda k, h: (k, h)):
    """Other means (L, H, …) of what the reference found, another loss, or other keys."""
    loss = loss or (lambda logits, targets: cross_entropy(logits[:, -1:], targets[:, -1:]))

    def answer(run, texts, targets, sources, reference):
        means = stand(run(reference).found)

        def value(layer, head):
            broken = run(texts, {key(layer, head): means[layer, head]}).logits
            return loss(broken, targets) - loss(run(texts).logits, targets)

        made = by_table(run, texts, targets, sources, reference)
        damage = table(run, value, texts)
        return {**made, "damage": damage, "head": largest(damage)}

    return answer


def put_at(places):
    def answer(run, texts, targets, sources, reference):
        own, means = run(texts).found, run(reference).found.mean(dim=(1, 3))
        keeps = torch.ones(texts.shape[1], 1, dtype=torch.bool)
        keeps[places] = False

        def value(layer, head):
            other = torch.where(keeps, own[layer, :, head], means[layer, head])
            broken = run(texts, {(layer, head): other}).logits
            ends = [one[:, -1:] for one in (broken, run(texts).logits)]
            return cross_entropy(ends[0], targets[:, -1:]) - cross_entropy(ends[1], targets[:, -1:])

        made = by_table(run, texts, targets, sources, reference)
        return {**made, "damage": table(run, value, texts)}

    return answer


RIGHT = {"table": by_table, "one by one": one_by_one, "lists": in_double}


# Averages what the head gives to each column, and takes the columns of all texts.
# "how much weight that head gives from the hyphen to the source, averaged over the texts"
def sources_of_all_texts(run, texts, targets, sources, reference):
    whole = run(texts)
    means = run(reference).found.mean(dim=(1, 3))
    base = F.cross_entropy(whole.logits[:, -1], targets[:, -1])
    L, H, _ = means.shape
    damage = torch.zeros(L, H)
    for layer in range(L):
        for h in range(H):
            logits = run(texts, {(layer, h): means[layer, h]}).logits[:, -1]
            damage[layer, h] = F.cross_entropy(logits, targets[:, -1]) - base
    best = int(damage.argmax())
    layer, h = best // H, best % H
    looks = whole.weights[layer, :, h, -1, sources].mean().item()
    return {
        "prediction": "layer 1, the first head",
        "damage": damage,
        "head": (layer, h),
        "looks": looks,
    }


# "looks: how much weight that head gives from the hyphen to the source"
def looks_of_the_bet(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(looks.shape)
    for n in range(damage.shape[0]):
        for h in range(damage.shape[1]):
            damage[n, h] = loss({(n, h): means[n, h]}) - loss({})
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks.max())}


def number_divided_by_the_layers(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    number = int(damage.argmax())
    return {
        "prediction": int(looks.argmax()),
        "damage": damage,
        "head": divmod(number, damage.shape[0]),
        "looks": float(looks.flatten()[number]),
    }


def _report(run, texts, targets, sources, reference, *, loss=None, means=None, looks=None):
    def at_the_end(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    loss = loss or at_the_end
    means = run(reference).found.mean(dim=(1, 3)) if means is None else means
    L, H = means.shape[:2]
    damage = torch.tensor(
        [[loss({(n, h): means[n, h]}) - loss({}) for h in range(H)] for n in range(L)]
    )
    n, h = divmod(int(damage.argmax()), H)
    weights = run(texts).weights[n, torch.arange(len(texts)), h, -1, sources]
    return {
        "prediction": "layer 1",
        "damage": damage,
        "head": (n, h),
        "looks": weights.mean() if looks is None else looks(n, h),
    }


def mean_of_the_tested_texts(run, texts, targets, sources, reference):
    means = run(texts).found.mean(dim=(1, 3))
    return _report(run, texts, targets, sources, reference, means=means)


def head_counted_from_one(run, texts, targets, sources, reference):
    report = _report(run, texts, targets, sources, reference)
    n, h = report["head"]
    return report | {"head": (n + 1, h + 1)}


def source_of_the_first_text(run, texts, targets, sources, reference):
    weights = run(texts).weights
    return _report(
        run,
        texts,
        targets,
        sources,
        reference,
        looks=lambda n, h: weights[n, :, h, -1, int(sources[0])].mean(),
    )


def logarithm_of_the_mean(run, texts, targets, sources, reference):
    """Averages the probabilities of the targets before the logarithm, so the loss is too small."""
    rows = torch.arange(len(texts))

    def loss(replaced):
        chances = run(texts, replaced).logits[:, -1].softmax(dim=-1)  # (N, V)
        return -chances[rows, targets[:, -1]].mean().log()

    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)  # (L, H)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    whole = loss({})
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - whole
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks[head])}


WRONG = {
    "logarithm-of-the-mean": logarithm_of_the_mean,
    "loss-itself": loss_itself,
    "softmax-taken-twice": put_in_place(
        loss=lambda logits, y: cross_entropy(logits[:, -1:].softmax(-1), y[:, -1:])
    ),
    "only-the-last-position": put_at(slice(-1, None)),
    "divided-and-exchanged": lambda *given: exchanged(number_divided_by_the_layers(*given)),
    "all-sources-read": sources_of_all_texts,
    "largest-look": looks_of_the_bet,
    "looks-are-enough": experiment(choose=lambda damage, looks: largest(looks)),
    "zero-for-mean": experiment(stand=torch.zeros_like),
    "loss-of-all-positions": experiment(place=None),
    "divided-by-the-layers": number_divided_by_the_layers,
    "looked-backwards": experiment(look=lambda weights, source: weights[source, -1]),
    "mean-of-the-texts": mean_of_the_tested_texts,
    "mean-at-the-last-position": lambda run, x, y, s, reference: by_table(
        lambda texts, put=None: (
            run(texts, put)._replace(found=run(texts, put).found[..., -1:, :])
            if texts is reference
            else run(texts, put)
        ),
        x,
        y,
        s,
        reference,
    ),
    "largest-weight": experiment(look=lambda weights, source: weights[-1].max()),
    "counted-from-one": head_counted_from_one,
    "looked-where-the-first-has-it": source_of_the_first_text,
}

ODD = [
    (lambda *given: {**by_table(*given), "looks": 0.05}, "other-looks"),
    (lambda *given: {**by_table(*given), "head": (0, 0)}, "another-head"),
    (
        lambda *given: {**by_table(*given), "damage": by_table(*given)["damage"] + 1},
        "constant-difference",
    ),
    (lambda *given: by_table(*given)["damage"], "type"),
    (lambda *given: {**by_table(*given), "head": 2}, "type"),
    (put_in_place(lambda found: found[:, 0].mean(dim=2)), "other-replacement"),
    (put_in_place(lambda found: found[:, 0]), "not-one-vector"),
    (put_at(slice(1, None, 2)), "not-at-all-positions"),
    (put_in_place(key=lambda k, h: (h, k)), "no-such-head"),
    (
        put_in_place(loss=lambda logits, y: cross_entropy(logits[:, -1:], y[:, -1:]) ** 2),
        "other-difference",
    ),
    (lambda *given: {**by_table(*given), "damage": by_table(*given)["damage"].T}, "transposed"),
]


# --- Answers that no list names ---


# Divided by the number of layers, and exchanged the two when an index was out of range.
# "`head`: the pair (layer, head) that is missed most"
def row_and_column_by_the_number_of_layers(run, texts, targets, sources, reference):
    result = run(texts)
    L, N, H = result.weights.shape[:3]
    means = run(reference).found.mean(dim=(1, 3))
    base = F.cross_entropy(result.logits[:, -1], targets[:, -1])
    damage = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            logits = run(texts, {(i, j): means[i, j]}).logits
            damage[i, j] = F.cross_entropy(logits[:, -1], targets[:, -1]) - base
    best = damage.argmax().item()
    layer, head = best % L, best // L
    looks = result.weights[layer, torch.arange(N), head, -1, sources].mean()
    return {"prediction": "(1, 0)", "damage": damage, "head": (layer, head), "looks": looks}


UNLISTED = {
    8: [(row_and_column_by_the_number_of_layers, "divided-and-exchanged")],
}
