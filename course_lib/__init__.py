"""What the chapters and the exercises of the course import; small enough to read in an evening.

Read it in this order. Each module needs only those above it.

The text
    1. `data.vocabulary`: symbols and their numbers. `data.windows`: what batches are made of.
    2. `atomic`: a file written whole or not at all. `data.notices` and `data.fetching`: where the
       files come from, and what is said when they don't. `data.corpora`: the three texts and their
       splits. `data.own_text`: yours.

The models
    3. `config`: the sizes of a GPT, checked. `model`: from a bigram table to a GPT, top to bottom.
       `nanogpt`: the weights of another one, in this one.

Training
    4. `schedules`: the learning rate over time. `optimizers`: AdamW, SGD and Muon.
    5. `history`: what a training leaves. `contexts`: what it changes around it and puts back.
    6. `checkpoints`: a model in a file. `resuming`: a training in a file.
    7. `training_checks`: what is refused, and why. `training`: `step`, `fit` and `evaluate`.

Writing
    8. `sampling`: text out of a model. `spelling`: names, each to its end.
    9. `recurrent`: the LSTM that GPTs replaced, and training with a memory that is carried along.

Beside the path
    10. `data.play`: the comedy whose exact loss is known. `data.play.structure` says what depends
        on what, `data.play.grammar` reads the notation of `words.txt` and `sentences.txt`,
        `data.play.automaton` makes draws of the rules, `data.play.dependencies` measures what each
        dependency is worth, `data.play.writing` writes, and `data.play.couplets` draws couplets
        with their plain form for chapter 13.
    11. `jax_model`, `jax_exchange` and `flax_model`: the model of chapter 06 in JAX and in Flax.
    12. `worked`: one sentence with small numbers, which chapters 01, 02 and 05 to 07 follow.
    13. `mime`: how figures are stored. `plots`: still figures. `errors`: every error raised.

Tools, which no chapter teaches, so an evening does without them
    14. `role_map`: which part of a GPT each tensor of somebody else's program is. `own_program`:
        a program of one's own, read from a file, and how it trains.

Importing this package alone imports neither torch nor matplotlib; its parts do, when they are
asked for.
"""

__version__ = "1.0.0"
