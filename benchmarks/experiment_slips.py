"""What students do by mistake when they run an experiment, as changes to its solution.

A slip replaces passages of the solution's `study`, so a change of the solution that a slip no
longer fits is an error here and not a run of something else. `benchmarks.experiments` runs each
slip, and the judge of the experiment recognizes numbers that come out the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KNOWN = "same.tril(-1).any(dim=-1)"
TWO = "same & before[0]"
ANY_ORDER = """(
            lambda three: (three[:, :, None] == three[:, None]).all(dim=-1)
        )(
            torch.stack(
                [F.pad(x, (k, 0), value=-1 - k)[:, :T] for k in range(3)], dim=-1
            ).sort(dim=-1).values
        )"""
RECENT = """(
            (y[:, :, None] == y[:, None, :])
            & agree
            & (agree.flip(-1).cumsum(dim=-1).flip(-1) <= (3 if name == "three" else 1))
        ).any(dim=-1)"""
MOST_FREQUENT = "(agree.float() @ F.one_hot(y).float()).argmax(dim=-1) == y"
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
BLOCKS_CUT_AND_TRAINED = """        model.blocks = nn.Sequential(*stack)
        fit(model, corpus, steps=500, batch_size=64, lr=0.01, seed=seed, progress=False)
        losses[name] = evaluate(model, corpus.validation, 8)
"""
FOUR_BLOCKS_TRAINED = (
    "    fit(model, corpus, steps=500, batch_size=64, lr=0.01, seed=seed, progress=False)\n"
)
WRITER_TRAINED = (
    "    fit(model, corpus, steps=500, batch_size=32, lr=0.01, seed=seed, progress=False)\n"
)
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
        "absolute-errors": Slip(
            "Took the absolute error instead of its square.",
            {"((guess[:-1] - vowels[1:]) ** 2).mean()": ("(guess[:-1] - vowels[1:]).abs().mean()")},
        ),
        "signed-errors": Slip(
            "Took the mean of the differences, without squares.",
            {"((guess[:-1] - vowels[1:]) ** 2).mean()": "(guess[:-1] - vowels[1:]).mean()"},
        ),
        "errors-added-up": Slip("Added up the squares.", {".mean().item()": ".sum().item()"}),
        "y-a-vowel": Slip("Counted y as a vowel.", {'"aeiouAEIOU"': '"aeiouyAEIOUY"'}),
        "spaces-kept": Slip(
            "Kept the spaces.", {"symbol.isalpha()": "symbol.isalpha() or symbol == ' '"}
        ),
        "one-letter-more": Slip("Made each memory longer by one letter.", {"< width": "<= width"}),
        "looks-ahead": Slip(
            "Compared with the letter before instead of the next one.",
            {"guess[:-1] - vowels[1:]": "guess[1:] - vowels[:-1]"},
        ),
        "looks-ahead (window around)": Slip(
            "Averaged the letters after t as well.",
            {"(back >= 0) & (back < width)": "back.abs() < width"},
        ),
        "rows-not-divided": Slip(
            "Added up the vowels instead of taking their share.",
            {"        weights = weights / weights.sum(dim=1, keepdim=True)\n": ""},
        ),
        "columns-divided": Slip(
            "Divided by the sums of the columns.",
            {"weights.sum(dim=1, keepdim=True)": "weights.sum(dim=0)"},
        ),
        "weights-turned": Slip(
            "Multiplied by the weights from the other side.",
            {"weights @ vowels": "vowels @ weights"},
        ),
        "guesses-rounded": Slip(
            "Rounded the guesses to 0 or 1.",
            {"guess[:-1] - vowels[1:]": "guess[:-1].round() - vowels[1:]"},
        ),
        "guesses-rounded (half is 1)": Slip(
            "The same, and took 0.5 for 1.",
            {"guess[:-1] - vowels[1:]": "(guess[:-1] >= 0.5).float() - vowels[1:]"},
        ),
        "from-the-start": Slip(
            "Took the first letters of the text instead of the last ones up to t.",
            {"(back < width)": "(torch.arange(T) < width)"},
        ),
        "weights-fall": Slip(
            "Let the weights fall within the window.",
            {
                "((back >= 0) & (back < width)).float()": (
                    "((back >= 0) & (back < width)) * (width - back).float()"
                )
            },
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
        "chosen-once": Slip(
            "Counted each chosen word once, however often it was chosen.",
            {"scores.argmax(dim=1)": "scores.argmax(dim=1).unique()"},
        ),
        "cosine-keeps-lengths": Slip(
            "Divided by the length of the word itself only.",
            {"(vectors @ vectors.T)": "(vectors @ x.T)"},
        ),
        "cosine-keeps-lengths (one number)": Slip(
            "Divided everything by one number.", {"x.norm(dim=1, keepdim=True)": "x.norm()"}
        ),
        "norm-of-channels": Slip(
            "Took the lengths along the words instead of along the letters.",
            {
                "x.norm(dim=1, keepdim=True)": "x.norm(dim=0, keepdim=True).clamp(min=1e-8)",
            },
        ),
        "another-length": Slip(
            "Divided by the number of letters.",
            {"x.norm(dim=1, keepdim=True)": "x.sum(dim=1, keepdim=True)"},
        ),
        "another-length (squared)": Slip(
            "Divided by the squared length.",
            {"x.norm(dim=1, keepdim=True)": "x.square().sum(dim=1, keepdim=True)"},
        ),
        "with-itself (dot, too)": Slip(
            "Didn't leave out the word itself.", {".fill_diagonal_(-1.0)": ""}
        ),
        "least-alike": Slip(
            "Looked for the word that is least alike.",
            {"fill_diagonal_(-1.0)": "fill_diagonal_(99.0)", "argmax": "argmin"},
        ),
        "second-best": Slip(
            "Left out the word itself, and then took the second one.",
            {"scores.argmax(dim=1)": "scores.topk(2, dim=1).indices[:, 1]"},
        ),
        "second-of-each-row": Slip(
            "Took the second largest of each row, as if the largest were always the word itself.",
            {
                ".fill_diagonal_(-1.0)": "",
                "scores.argmax(dim=1)": "scores.topk(2, dim=1).indices[:, 1]",
            },
        ),
        "only-earlier-words": Slip(
            "Compared each word only with those before it.",
            {"scores.argmax(dim=1)": "scores.tril(-1).argmax(dim=1)"},
        ),
        "shares-compared": Slip(
            "Described words by shares of letters, not by their numbers.",
            {
                "    unit =": "    x = x / x.sum(dim=1, keepdim=True)\n    unit =",
            },
        ),
        "distances-compared": Slip(
            "Took the nearest vector instead of the largest dot product.",
            {
                "(vectors @ vectors.T).fill_diagonal_(-1.0)": (
                    "-torch.cdist(vectors, vectors).fill_diagonal_(99.0)"
                )
            },
        ),
        "similarities-averaged": Slip(
            "Averaged the largest similarities instead of the lengths.",
            {"lengths[scores.argmax(dim=1)]": "scores.amax(dim=1)"},
        ),
        "averaged-by-softmax": Slip(
            "Averaged all lengths with a softmax of the scores.",
            {"lengths[scores.argmax(dim=1)].mean()": "(scores.softmax(dim=1) @ lengths).mean()"},
        ),
        "differences-of-lengths": Slip(
            "Noted how much longer the chosen words are.",
            {
                "lengths[scores.argmax(dim=1)].mean()": (
                    "(lengths[scores.argmax(dim=1)] - lengths).mean()"
                )
            },
        ),
        "both-words-averaged": Slip(
            "Averaged the lengths of both words.",
            {
                "lengths[scores.argmax(dim=1)].mean()": (
                    "((lengths + lengths[scores.argmax(dim=1)]) / 2).mean()"
                )
            },
        ),
        "weighed-by-frequency": Slip(
            "Let frequent words count more.",
            {
                "lengths = x.sum(dim=1)": (
                    "often = torch.tensor([float(n) for _, n in counted])\n"
                    "    often = often / often.mean()\n"
                    "    lengths = x.sum(dim=1)"
                ),
                "lengths.mean()": "(often * lengths).mean()",
                "lengths[scores.argmax(dim=1)].mean()": (
                    "(often * lengths[scores.argmax(dim=1)]).mean()"
                ),
            },
        ),
        "vector-lengths": Slip(
            "Took the lengths of the vectors for the lengths of the words.",
            {"x.sum(dim=1)": "x.norm(dim=1)"},
        ),
        "medians": Slip("Took medians.", {".mean()": ".median()"}),
        "four-letters": Slip("Left out words of three letters.", {">= 3": "> 3"}),
        "first-words": Slip(
            "Took the first 300 words of the text instead of the most frequent ones.",
            {
                "Counter(word for word in found if len(word) >= 3).most_common(300)": (
                    "[(w, 1) for w in dict.fromkeys(w for w in found if len(w) >= 3)][:300]"
                )
            },
        ),
        "split-at-spaces": Slip(
            "Split the text at spaces and kept what holds nothing but letters.",
            {
                're.findall("[a-z]+", corpus.text.lower())': (
                    "[w for w in corpus.text.lower().split() if w.isalpha()]"
                )
            },
        ),
        "another-number-of-words": Slip("Took 100 words.", {"(300)": "(100)"}),
        "another-number-of-words (1,000)": Slip("Took 1,000 words.", {"(300)": "(1000)"}),
        "mean-of-other-words": Slip(
            "Took the mean length of all words of the text.",
            {"lengths.mean()": "torch.tensor([float(len(w)) for w in found]).mean()"},
        ),
        "mean-of-other-words (each once)": Slip(
            "Took the mean length of all different words.",
            {"lengths.mean()": "torch.tensor([float(len(w)) for w in set(found)]).mean()"},
        ),
        "mean-of-other-words (three letters)": Slip(
            "Took the mean length of all different words of three letters.",
            {
                "lengths.mean()": (
                    "torch.tensor([float(len(w)) for w in set(found) if len(w) >= 3]).mean()"
                )
            },
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
        "one-symbol-longer": Slip(
            "Took pieces of n + 1 symbols.", {"i : i + n]": "i : i + n + 1]", "- n + 1)": "- n)"}
        ),
        "one-symbol-shorter": Slip(
            "Took pieces of n − 1 symbols.", {"i : i + n]": "i : i + n - 1]"}
        ),
        "distinct-hits": Slip(
            "Counted each piece that was found only once, but divided by the number of all pieces.",
            {
                "sum(piece in known for piece in asked)": (
                    "len({piece for piece in asked if piece in known})"
                )
            },
        ),
        "share-of-training": Slip(
            "Looked which of the different pieces of training occur in the validation split.",
            {
                "sum(piece in known for piece in asked) / len(asked)": (
                    "len(known & set(asked)) / len(known)"
                )
            },
        ),
        "lower-case": Slip(
            "Turned capitals into small letters first.",
            {
                "(corpus.train)": "(corpus.train).lower()",
                "(corpus.validation)": "(corpus.validation).lower()",
            },
        ),
        "same-place": Slip(
            "Compared each piece only with the one at the same place of the training split.",
            {
                "sum(piece in known for piece in asked)": (
                    "sum(train[i : i + n] == piece for i, piece in enumerate(asked))"
                )
            },
        ),
        "begins-of-training": Slip(
            "Looked only in a part of the training split that is as long as the validation split.",
            {"range(len(train) - n + 1)": "range(len(validation) - n + 1)"},
        ),
        "earlier-validation": Slip(
            "Counted what occurs earlier in the validation split as seen, too.",
            {"piece in known for": "piece in known or bool(known.add(piece)) for"},
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
        "share-of-validation": Slip(
            "Measured on the first 1 % and 10 % of the validation split as well.",
            {
                "probabilities[validation[:-1], validation[1:]]": (
                    "probabilities[tuple(validation[: len(validation) // part].unfold(0, 2, 1).T)]"
                )
            },
        ),
        "pairs-from-everywhere": Slip(
            "Drew 1 % and 10 % of the pairs at random from all of the training split.",
            {
                "tokens[:-1] * V + tokens[1:]": (
                    "(train[:-1] * V + train[1:])[torch.randperm(len(train) - 1, generator="
                    "torch.Generator().manual_seed(0))[: len(train) // part]]"
                )
            },
        ),
        "pairs-from-everywhere (every nth)": Slip(
            "Took every 100th and every 10th pair of the training split.",
            {"tokens[:-1] * V + tokens[1:]": "(train[:-1] * V + train[1:])[::part]"},
        ),
        "every-nth-symbol": Slip(
            "Took every 100th and every 10th symbol of the training split.",
            {"train[: len(train) // part]": "train[::part]"},
        ),
        "less-added": Slip("Added 0.1 to every count.", {"+ 1.0": "+ 0.1"}),
        "less-added (0.01)": Slip("Added 0.01 to every count.", {"+ 1.0": "+ 0.01"}),
        "less-added (1 / V)": Slip("Added 1 / V to every count.", {"+ 1.0": "+ 1 / V"}),
        "counted-in-validation": Slip(
            "Counted in parts of the validation split.",
            {"corpus.train, corpus.validation": "corpus.validation, corpus.validation"},
        ),
        "counted-in-validation (measured on training)": Slip(
            "Counted in the validation split and measured on the training split.",
            {"corpus.train, corpus.validation": "corpus.validation, corpus.train"},
        ),
        "table-turned": Slip(
            "Read the probability of the earlier symbol after the later one.",
            {
                "probabilities[validation[:-1], validation[1:]]": (
                    "probabilities[validation[1:], validation[:-1]]"
                )
            },
        ),
        "current-ignored": Slip(
            "Took the shares of the symbols, whatever symbol comes before them.",
            {
                "counts / counts.sum(dim=1, keepdim=True)": (
                    "(counts.sum(dim=0) / counts.sum()).expand(V, V)"
                )
            },
        ),
        "symbols-for-pairs": Slip(
            "Paired every symbol with itself when measuring.",
            {
                "probabilities[validation[:-1], validation[1:]]": (
                    "probabilities[validation, validation]"
                )
            },
        ),
        "two-apart": Slip(
            "Counted pairs that are two steps apart.",
            {"tokens[:-1] * V + tokens[1:]": "tokens[:-2] * V + tokens[2:]"},
        ),
        "logarithm-of-the-mean": Slip(
            "Took −log of the mean probability.",
            {"-given.log().mean()": "-given.mean().log()"},
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
        "default-rate": Slip("Left the learning rate out.", {"lr=0.01, ": ""}),
        "default-batch": Slip("Left the batch size out.", {"batch_size=128, ": ""}),
        "longer-context": Slip(
            "Exchanged the context and the channels.", {"8, 32, 32)": "32, 8, 32)"}
        ),
    },
    "06/tiny-heads": {
        "first-evaluation": Slip(
            "Took the first evaluation instead of the last.", {"evaluations[-1]": "evaluations[0]"}
        ),
        "default-rate": Slip("Left the learning rate out.", {"lr=0.01, ": ""}),
        "default-batch": Slip("Left the batch size out.", {"batch_size=128, ": ""}),
        "default-steps": Slip("Left the number of steps out.", {"steps=400, ": ""}),
        "one-channel-each": Slip(
            "Gave the model as many channels as heads.", {"8, 32, n_head)": "8, n_head, n_head)"}
        ),
    },
    "07/without-a-block": {
        "trained-afresh": Slip(
            "Trained models of three blocks.", {BLOCKS_CUT: THREE_BLOCKS_TRAINED}
        ),
        "both-cut": Slip(
            "Cut the last block from the stack that had already lost its first.",
            {'"without_last": blocks[:-1]': '"without_last": blocks[1:-1]'},
        ),
        "trained-in-each-round": Slip(
            "Called `fit` in the loop, so that the shorter stacks are trained further.",
            {FOUR_BLOCKS_TRAINED: "", BLOCKS_CUT: BLOCKS_CUT_AND_TRAINED},
        ),
        "default-rate": Slip("Left the learning rate out.", {"lr=0.01, ": ""}),
        "untrained": Slip("Didn't train the model.", {FOUR_BLOCKS_TRAINED: ""}),
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
        "symbols-known": Slip(
            "Took the symbols of the training split for its words.",
            {"corpus.train).split()": "corpus.train)"},
        ),
        "untrained": Slip("Didn't train the model.", {WRITER_TRAINED: ""}),
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
        "counted-once": Slip(
            "Counted each row once, however often it occurs.",
            {"counts.view(-1, V) + 1.0": "counts.view(-1, V).clamp(max=1) + 1.0"},
        ),
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
        "every-pair": Slip(
            "Counted every pair of a place and an earlier one, not each place once.",
            {
                "y.gather(1, last) == y": "(y[:, :, None] == y[:, None, :])[agree]",
                "right[found]": "right",
            },
        ),
        "found-of-known": Slip(
            "Divided `found` by the places whose symbol came before, not by all.",
            {"found.float().mean().item()}": f"found[{KNOWN}].float().mean().item()}}"},
        ),
        "found-of-one": Slip(
            "Noted for `found` where a single symbol came before.",
            {"found.float().mean().item()}": f"{KNOWN}.float().mean().item()}}"},
        ),
        "windows-counted": Slip(
            "Counted in how many windows the three come back somewhere.",
            {"found.float().mean().item()}": "found.any(dim=-1).float().mean().item()}"},
        ),
        "found-if-right": Slip(
            "Counted in `found` only the places where copying is right.",
            {"found.float().mean().item()}": "(found & right).float().mean().item()}"},
        ),
        "pairs-found": Slip(
            "Noted for `found` the share of all pairs of places.",
            {"found.float().mean().item()}": "agree.float().mean().item()}"},
        ),
        "two-symbols": Slip(
            "Let two symbols agree instead of three.", {"same & before[0] & before[1]": TWO}
        ),
        "four-symbols": Slip(
            "Let four symbols agree instead of three.",
            {"for k in (1, 2)]": "for k in (1, 2, 3)]", "before[1])": "before[1] & before[2])"},
        ),
        "following-symbols": Slip(
            "Compared the two symbols after each place instead of those before it.",
            {"F.pad(same, (k, 0, k, 0))[:, :T, :T]": "F.pad(same, (0, k, 0, k))[:, k:, k:]"},
        ),
        "any-order": Slip(
            "Let the three symbols come before in any order.",
            {"same & before[0] & before[1]": ANY_ORDER},
        ),
        "not-found-counted": Slip(
            "Counted the places where nothing was found, too.", {"right[found]": "right"}
        ),
        "of-known-places": Slip(
            "Divided `three` by the places whose last symbol came before.",
            {"right[found]": f"(right & found)[{KNOWN}]"},
        ),
        "compared-with-x": Slip(
            "Compared with the symbol at t instead of with what follows it.",
            {"y.gather(1, last) == y": "y.gather(1, last) == x"},
        ),
        "one-too-far": Slip(
            "Took the symbol two after the earlier place.",
            {"y.gather(1, last)": "y.gather(1, (last + 1).clamp(max=T - 1))"},
        ),
        "any-place": Slip(
            "Counted a place as right if any of the earlier ones is.",
            {"y.gather(1, last) == y": "((y[:, :, None] == y[:, None, :]) & agree).any(dim=-1)"},
        ),
        "most-frequent": Slip(
            "Took what followed most of the earlier places.",
            {"y.gather(1, last) == y": MOST_FREQUENT},
        ),
        "mean-of-windows": Slip(
            "Averaged the shares of the windows.",
            {
                "right[found].float().mean()": "((right & found).sum(1) / found.sum(1)).nanmean()",
            },
        ),
        "end-of-window": Slip(
            "Looked only at the last place of each window.",
            {
                "right[found]": "right[:, -1][found[:, -1]]",
                "found.float().mean().item()}": "found[:, -1].float().mean().item()}",
            },
        ),
        "three-places": Slip(
            "Took the last three places of one symbol for `three`.",
            {"same & before[0] & before[1]": "same", "y.gather(1, last) == y": RECENT},
        ),
        "shorter-windows": Slip("Drew windows of 32 symbols.", {"T = 64": "T = 32"}),
        "longer-windows": Slip("Drew windows of 128 symbols.", {"T = 64": "T = 128"}),
    },
}
