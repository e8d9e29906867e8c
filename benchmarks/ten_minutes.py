"""How low two cores get in ten minutes, and when they pass each loss on the way.

    python -m benchmarks.ten_minutes
    python -m benchmarks.ten_minutes --seconds 60 --forms counts-and-network

Writes the curve of each form to `results/ten_minutes.json`. The clock includes building, counting
and every evaluation.
"""

import argparse
import dataclasses
import json
import time
from typing import Any

import torch

from benchmarks import speedrun
from benchmarks.measuring import RESULTS, peak_megabytes, write_results
from course_lib import data
from course_lib.training import evaluate

NAME = "ten_minutes"
EVALUATIONS = 12
SIZES: dict[str, Any] = {"n_layer": 3, "n_head": 4, "n_embd": 128, "block_size": 128, "overlap": 32}
RATES: dict[str, Any] = {"batch_size": 16, "lr": 0.004, "muon_lr": 0.012, "dropout": 0.1}

# In many passes over the text, tables of pairs and triples learn it by heart: counts replace them.
# A network that is given the counts learns little beside them. One that learns by itself errs in
# other places, so that the mean of both is better than either.
NETWORK = speedrun.Recipe(
    **SIZES,
    **RATES,
    steps=10_000,
    ngram_embeddings=False,
    previous_token=True,
    bfloat16=True,
)
FORMS = {
    "counts-and-network": dataclasses.replace(NETWORK, count_order=6, count_share=0.5),
    "network": NETWORK,
}
MARKS = (2.50, 2.409, 2.239, 2.009, 1.88, 1.60, 1.50, 1.4697)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    corpus = data.load("shakespeare", fallback=False)
    path = RESULTS / f"{NAME}.json"
    results: dict[str, Any] = {}
    if path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
    for name in options.forms.split(","):
        processor = time.process_time()
        model, history = speedrun.run(
            corpus, FORMS[name], seconds=options.seconds, evaluations=EVALUATIONS
        )
        processor, peak, parts = time.process_time() - processor, peak_megabytes(), {}
        if model.counts is not None:
            model.counts = None
            parts["network"] = evaluate(
                model, corpus.validation, model.block_size, SIZES["overlap"]
            )
            counts = dataclasses.replace(NETWORK, n_layer=0, count_order=FORMS[name].count_order)
            parts["counts"] = speedrun.run(corpus, counts)[1].validation
        results[name] = {
            "seconds": history.seconds,
            "processor_seconds": processor,
            "steps": history.steps,
            "tokens_per_second": history.tokens_per_second,
            "loss": history.validation,
            "losses_apart": parts,
            "overlap": FORMS[name].overlap,
            "parameters": sum(p.numel() for p in model.parameters()),
            "curve": [[e.step, e.seconds, e.loss] for e in history.evaluations],
            "seconds_to": {str(mark): history.seconds_to(mark) for mark in MARKS},
            "peak_megabytes": peak,
        }
        print(f"{name}: {history}", flush=True)
        write_results(NAME, results)


if __name__ == "__main__":
    main()
