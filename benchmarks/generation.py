"""Tokens per second of generation, with and without a cache of keys and values.

python -m benchmarks.generation

Writes `results/generation.json`. The model is untrained: the speed does not depend on its weights.
"""

import argparse

import torch

from benchmarks.measuring import median_seconds, peak_megabytes, write_results
from course_lib.model import GPT, Config, fuse
from course_lib.sampling import generate

CONFIG = Config(vocab_size=65, block_size=256, n_layer=4, n_head=4, n_embd=128)
COUNT = CONFIG.block_size - 1  # as long as the text fits, a cache helps; see `generate`


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    plain = GPT(CONFIG).eval()
    fused = fuse(plain)
    results = []
    for rows in (1, 8):
        prompt = torch.zeros(rows, 1, dtype=torch.int64)
        seconds = median_seconds(
            {
                "plain, no cache": lambda prompt=prompt: generate(plain, prompt, COUNT),
                "fused, no cache": lambda prompt=prompt: generate(fused, prompt, COUNT),
                "fused, cache": lambda prompt=prompt: generate(fused, prompt, COUNT, cache=True),
            },
            rounds=options.rounds,
            warm_up=1,
        )
        for name, median in seconds.items():
            speed = rows * COUNT / median
            results.append({"rows": rows, "form": name, "tokens_per_second": speed})
            print(f"{rows} rows  {name:18s} {speed:10,.0f} tokens/s", flush=True)
    write_results(
        "generation",
        {
            "tokens": COUNT,
            "speeds": results,
            "peak_megabytes": peak_megabytes(),
        },
    )


if __name__ == "__main__":
    main()
