"""What students do by mistake when they run an experiment, as changes to its solution.

A slip replaces passages of the solution's `study`, so a change of the solution that a slip no
longer fits is an error here and not a run of something else. `benchmarks.experiments` runs each
slip, and the judge of the experiment recognizes numbers that come out the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NEIGHBORS = """        last = len(tokens) - n
        return sum(tokens[i : i + last] * V ** (n - i) for i in range(n + 1))
"""
NEIGHBORS_WITHIN_NAMES = """        windows = tokens.unfold(0, n + 1, 1).clone()
        past = windows[:, :-1]
        before = (past == 0).flip(1).cumsum(1).flip(1) > 0
        windows[:, :-1] = past.masked_fill(before, 0)
        return (windows * V ** torch.arange(n, -1, -1)).sum(1)
"""
MEAN_OF_CONTEXTS = (
    "(torch.bincount(rows // V, -given.log()) / torch.bincount(rows // V)).nanmean().item()"
)
JITTED_AGAIN = """    def traces(rows):
        traced = []

        @jax.jit
        def mean(tokens):
            traced.append(tokens.shape)  # runs only while JAX traces
            return tokens.mean()
"""
JITTED_ONCE = """    traced = []

    @jax.jit
    def mean(tokens):
        traced.append(tokens.shape)
        return tokens.mean()

    def traces(rows):
        traced.clear()
"""
BLOCKS_CUT = """        model.blocks = nn.Sequential(*stack)
        losses[name] = evaluate(model, corpus.validation, 8)
"""
THREE_BLOCKS_TRAINED = """        torch.manual_seed(seed)
        config = Config(len(corpus.vocabulary), 8, n_layer=len(stack), n_head=4, n_embd=32)
        model = fuse(GPT(config))
        fit(model, corpus, steps=500, batch_size=64, lr=0.01, seed=seed, progress=False)
        losses[name] = evaluate(model, corpus.validation, 8)
"""
QUERIES_ZEROED_FIRST = """            with torch.no_grad():
                model.head.query.weight.zero_()
            model.head.query.weight.requires_grad_(False)
        history = fit(
            model, corpus, steps=400, batch_size=128, lr=0.01, seed=seed, progress=False
        )
        losses[name] = history.evaluations[-1].loss
"""
QUERIES_ZEROED_LAST = """            pass
        history = fit(
            model, corpus, steps=400, batch_size=128, lr=0.01, seed=seed, progress=False
        )
        losses[name] = history.evaluations[-1].loss
        if name == "equal":
            from course_lib.training import evaluate

            with torch.no_grad():
                model.head.query.weight.zero_()
            losses[name] = evaluate(model, corpus.validation, 8)
"""


@dataclass(frozen=True)
class Slip:
    """A wrong way to run an experiment.

    Attributes
    ----------
    did : str
        What the student did.
    edits : mapping of str to str
        Passages of the solution's `study`, each of which occurs in it, and what replaces them.
    """

    did: str
    edits: Mapping[str, str]

    def applied(self, source: str) -> str:
        """The source of a `study` that makes this slip.

        Raises
        ------
        ValueError
            If a passage is not in the source.
        """
        for old, new in self.edits.items():
            if old not in source:
                raise ValueError(f"{self.did} The solution no longer has the passage {old!r}.")
            source = source.replace(old, new)
        return source


def finding(slip: str) -> str:
    """The name of the finding that a slip earns; its variants add something in brackets."""
    return slip.partition(" (")[0]


SLIPS: Mapping[str, Mapping[str, Slip]] = {
    "01/vowels": {
        "small-vowels": Slip("Took capital vowels for consonants.", {'"aeiouAEIOU"': '"aeiou"'}),
        "all-symbols": Slip(
            "Kept spaces and punctuation among the 4,000 symbols.",
            {"[symbol for symbol in corpus.text if symbol.isalpha()]": "corpus.text"},
        ),
        "without-its-letter": Slip(
            "Left the letter at t out of the memory of position t.",
            {"guess[:-1] - vowels[1:]": "guess[:-2] - vowels[2:]"},
        ),
        "divided-by-width": Slip(
            "Divided by the width even where there are fewer letters.",
            {"weights.sum(dim=1, keepdim=True)": "width"},
        ),
    },
    "02/alike": {
        "letters-once": Slip(
            "Noted whether a word contains a letter, not how often.",
            {
                "] += 1": "] = 1",
                "x.sum(dim=1)": "torch.tensor([float(len(w)) for w, _ in counted])",
            },
        ),
        "letters-once (lengths too)": Slip(
            "The same, and took the sum of a word's vector for its length.", {"] += 1": "] = 1"}
        ),
        "short-words-too": Slip("Kept words of one and two letters.", {" if len(word) >= 3": ""}),
        "filtered-last": Slip(
            "Took the 300 most frequent words first, and then those with three letters.",
            {
                "Counter(word for word in found if len(word) >= 3).most_common(300)": (
                    "[(w, n) for w, n in Counter(found).most_common(300) if len(w) >= 3]"
                )
            },
        ),
        "capitals-cut": Slip(
            "Looked for small letters without making the text lower case first.",
            {"corpus.text.lower()": "corpus.text"},
        ),
    },
    "03/seen-before": {
        "distinct": Slip(
            "Counted each piece once, however often it occurs.",
            {
                "[validation[i : i + n] for i in range(len(validation) - n + 1)]": (
                    "{validation[i : i + n] for i in range(len(validation) - n + 1)}"
                )
            },
        ),
        "every-nth": Slip(
            "Cut the training split into pieces that don't overlap.",
            {"range(len(train) - n + 1)": "range(0, len(train) - n + 1, n)"},
        ),
        "splits-exchanged": Slip(
            "Looked for the pieces of the training split in the validation split.",
            {
                "train = corpus.vocabulary.decode(corpus.train)": "pass",
                "validation = corpus.vocabulary.decode(corpus.validation)": (
                    "validation, train = map(corpus.vocabulary.decode, "
                    "(corpus.train, corpus.validation))"
                ),
            },
        ),
        "whole-text": Slip(
            "Looked for the pieces in the whole text, which includes the validation split.",
            {"corpus.vocabulary.decode(corpus.train)": "corpus.text"},
        ),
    },
    "04/little-text": {
        "part-itself": Slip(
            "Measured the loss on the part that was counted.",
            {
                "probabilities[validation[:-1], validation[1:]]": (
                    "probabilities[tokens[:-1], tokens[1:]]"
                )
            },
        ),
        "training-loss": Slip(
            "Measured the loss on the whole training split.",
            {"corpus.train, corpus.validation": "corpus.train, corpus.train"},
        ),
        "last-part": Slip(
            "Counted the last part of the training split.",
            {"train[: len(train) // part]": "train[-(len(train) // part) :]"},
        ),
    },
    "05/choosing": {
        "first-evaluation": Slip(
            "Took the first evaluation instead of the last.", {"evaluations[-1]": "evaluations[0]"}
        ),
        "zeroed-afterwards": Slip(
            "Set the queries to zero after the training.",
            {QUERIES_ZEROED_FIRST: QUERIES_ZEROED_LAST},
        ),
        "nothing-passed-on": Slip(
            "Set the values to zero instead of the queries.", {"head.query": "head.value"}
        ),
    },
    "06/tiny-heads": {
        "first-evaluation": Slip(
            "Took the first evaluation instead of the last.", {"evaluations[-1]": "evaluations[0]"}
        ),
        "default-rate": Slip("Left the learning rate out.", {"lr=0.01, ": ""}),
    },
    "07/without-a-block": {
        "trained-afresh": Slip(
            "Trained models of three blocks.", {BLOCKS_CUT: THREE_BLOCKS_TRAINED}
        ),
        "both-cut": Slip(
            "Cut the last block from the stack that had already lost its first.",
            {'"without_last": blocks[:-1]': '"without_last": blocks[1:-1]'},
        ),
    },
    "08/real-words": {
        "in-the-text": Slip(
            "Asked if the text contains the word, which it may do within another word.",
            {"set(vocabulary.decode(corpus.train).split())": "vocabulary.decode(corpus.train)"},
        ),
        "distinct": Slip(
            "Counted each word once, however often it was written.",
            {"words = [w for": "words = {w for", ".split()[:-1]]": ".split()[:-1]}"},
        ),
    },
    "09/letters-of-past": {
        "measured-where-counted": Slip(
            "Measured the loss on the training split.", {"corpus.validation": "corpus.train"}
        ),
        "measured-where-counted (whole text)": Slip(
            "Counted in the whole text.",
            {"corpus.train": "torch.cat([corpus.train, corpus.validation])"},
        ),
        "validation-counted": Slip(
            "Counted in the validation split.", {"corpus.train": "corpus.validation"}
        ),
        "next-among-n": Slip("Took the next letter for one of the n.", {"start=1": "start=0"}),
        "list-counted": Slip(
            "Counted in the whole list of names.",
            {"corpus.train": "torch.as_tensor(corpus.vocabulary.encode(corpus.text))"},
        ),
        "other-ones (for zeros)": Slip(
            "Replaced counts of 0 by 1.",
            {"counts.view(-1, V) + 1.0": "counts.view(-1, V).clamp(min=1).float()"},
        ),
        "other-ones (added again)": Slip(
            "Added V to the sum of a row that holds the added ones already.",
            {"counts.sum(dim=1)[rows // V]": "(counts.sum(dim=1)[rows // V] + V)"},
        ),
        "other-ones (one a row)": Slip("Added 1 / V to every count.", {"+ 1.0": "+ 1.0 / V"}),
        "other-ones (a tenth)": Slip("Added 0.1 to every count.", {"+ 1.0": "+ 0.1"}),
        "contexts-averaged": Slip(
            "Took the mean of the mean losses of the contexts.",
            {"-given.log().mean().item()": MEAN_OF_CONTEXTS},
        ),
        "within-names": Slip(
            "Replaced what is before the name by boundaries.", {NEIGHBORS: NEIGHBORS_WITHIN_NAMES}
        ),
        "mean-before-log": Slip(
            "Took the logarithm of the mean probability.",
            {"-given.log().mean()": "-given.mean().log()"},
        ),
        "unseen-contexts-left-out": Slip(
            "Left out targets whose context was never counted.",
            {"given.log()": "given[counts.sum(dim=1)[rows // V] > V].log()"},
        ),
        "columns-divided": Slip(
            "Divided by the sums of the columns.",
            {"counts.sum(dim=1)[rows // V]": "counts.sum(dim=0)[rows % V]"},
        ),
    },
    "10/traces": {
        "mean-of-lines": Slip(
            "Averaged the shares of the lines.",
            {
                "1 - symbols / sum(len(row) for row in padded)": (
                    "sum(1 - len(r) / len(p) for r, p in zip(rows, padded)) / len(rows)"
                )
            },
        ),
        "empty-lines-too": Slip("Kept the empty lines among the 300.", {" if line]": "]"}),
        "empty-lines-counted": Slip(
            "Took the first 300 lines and left out those that are empty.",
            {"splitlines() if line][:300]": "splitlines()[:300] if line]"},
        ),
        "to-the-longest": Slip(
            "Padded all lines to the length of the longest.",
            {"-len(row) % 16": "max(map(len, rows)) - len(row)"},
        ),
        "always-padded": Slip(
            "Padded lines by 16 whose length already was a multiple of 16.",
            {"-len(row) % 16": "16 - len(row) % 16"},
        ),
        "counted-on": Slip(
            "Didn't set the count back before the second measurement.",
            {"    def traces": "    traced = []\n\n    def traces", "        traced = []\n": ""},
        ),
        "one-function": Slip(
            "Measured both with one jitted function, which knows some lengths already.",
            {JITTED_AGAIN: JITTED_ONCE},
        ),
        "to-other-lengths (8)": Slip(
            "Padded to multiples of 8.", {"-len(row) % 16": "-len(row) % 8"}
        ),
        "to-other-lengths (32)": Slip(
            "Padded to multiples of 32.", {"-len(row) % 16": "-len(row) % 32"}
        ),
        "to-other-lengths (powers)": Slip(
            "Padded to powers of two.",
            {"-len(row) % 16": "(1 << (len(row) - 1).bit_length()) - len(row)"},
        ),
        "with-newlines": Slip(
            "Kept the newline at the end of each line.",
            {"splitlines() if line]": "splitlines(keepends=True) if line.strip()]"},
        ),
        "lines-padded": Slip(
            "Took the share of lines that are padded.",
            {
                "1 - symbols / sum(len(row) for row in padded)": (
                    "sum(len(row) % 16 > 0 for row in rows) / len(rows)"
                )
            },
        ),
    },
    "11/copying": {
        "first-place": Slip(
            "Took the first earlier place instead of the last.",
            {"T - 1 - agree.flip(-1).int()": "agree.int()"},
        ),
        "finds-itself": Slip("Counted t among its own earlier places.", {"tril(-1)": "tril()"}),
        "later-places": Slip(
            "Looked at later places, too.",
            {"agree.tril(-1)": "agree & ~torch.eye(T, dtype=torch.bool)"},
        ),
        "symbol-itself": Slip(
            "Said the symbol at the earlier place instead of what followed it.",
            {"y.gather(1, last)": "x.gather(1, last)"},
        ),
    },
}
