"""A program of the reader's own trains from the command line, goes on where it stopped, and becomes
one page that writes in any browser.
"""

import json

import numpy as np
import pytest
import torch
from interactions import settle, shown, trait
from students.project_my_gpt.programs import OF_A_KNOWN_SHAPE, PLAIN, STYLES, changed, names_of

from course_figures import LiveModel, LookingInside, own_gpt
from course_lib import own_program, role_map
from course_lib.config import Config
from course_lib.data import Vocabulary
from course_lib.errors import CheckpointError, ConfigError

TEXT = "what is said once is said again, and again it is said. " * 60
CLOCK = "    while time.monotonic() - start < seconds:"
CONFIG = Config(6, 12, 2, 2, 8)
LETTERS = "abcdef"


def sized(source):
    """The program with a small model and a few steps, as many on a busy machine as on any other."""
    source = source.replace("GPT(len(symbols), 24, 32, 4, 2)", "GPT(len(symbols), 24, 8, 2, 1)")
    return source.replace(CLOCK, "    for _ in range(20):")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(sized(PLAIN), encoding="utf-8")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def command(folder, *options, program="mine.py"):
    given = [str(folder / program), "--text", str(folder / "text.txt"), *options]
    return own_gpt.main(given)


@pytest.mark.slow
def test_training_leaves_a_page_a_card_and_where_to_go_on(folder, capsys):
    assert command(folder, "--seconds", "60") == 0
    page = (folder / "mine.html").read_text(encoding="utf-8")
    assert "def train(text, seconds):" in page
    assert len(page) < 1_000_000
    card = (folder / "mine.md").read_text(encoding="utf-8")
    assert "held-out loss" in card
    assert "| n_embd | 8 |" in card
    assert "Counted pairs have" in capsys.readouterr().out

    assert command(folder, "--seconds", "0.001") == 2
    assert "give more with --seconds" in capsys.readouterr().err
    steps = own_program.load(folder / "mine.pt", TEXT[: int(0.9 * len(TEXT))]).steps
    assert steps == 20
    assert command(folder, "--seconds", "60") == 0
    said = capsys.readouterr().out
    assert f"{steps:,} steps" in said.splitlines()[0]
    assert said.startswith("Going on after")


def test_what_goes_on_has_the_weights_of_before(folder):
    program = own_program.read(folder / "mine.py")
    first, config, progress = own_program.trained(
        program, TEXT, 0.5, own_program.Progress(), lambda *_: None, every=9
    )
    own_program.save(folder / "kept.pt", progress, TEXT)
    kept = own_program.load(folder / "kept.pt", TEXT)
    # A clock that lets one step happen: the one in which the state is put back, and moves nothing.
    source = sized(PLAIN).replace("range(20)", "range(1)")
    (folder / "one.py").write_text(source, encoding="utf-8")
    once = own_program.read(folder / "one.py")
    again, _, _ = own_program.trained(once, TEXT, 0.5, kept, lambda *_: None, every=9)
    for name, one in first.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], one)
    assert config.n_embd == 8
    with pytest.raises(ConfigError, match="of another text"):
        own_program.load(folder / "kept.pt", TEXT[1:])


def test_state_of_another_model_is_refused_in_words(folder):
    program = own_program.read(folder / "mine.py")
    before = own_program.Progress(1.0, 3, {"strange": torch.zeros(2)}, {})
    with pytest.raises(ConfigError, match=r"its weights don't fit the GPT.*--fresh"):
        own_program.trained(program, TEXT, 0.2, before, lambda *_: None, every=9)


def test_program_in_a_notebook_is_read_without_its_checks(folder):
    cells = [
        {"cell_type": "markdown", "source": ["# Mine"]},
        {"cell_type": "code", "source": ["from course_tasks import check\n", sized(PLAIN)]},
        {"cell_type": "code", "source": ['check("my-gpt/model", GPT)']},
    ]
    (folder / "mine.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    program = own_program.read(folder / "mine.ipynb")
    assert "check" not in program.source
    assert program.GPT.__name__ == "GPT"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\n", "defines no GPT and no train and no write"),
        ("1 / 0\n", "stops with ZeroDivisionError"),
        (changed([("        optimizer.step()\n", ""), ("    return model\n", "    return 3\n")]),
         "train returned int"),
    ],
)  # fmt: skip
def test_program_that_lacks_something_is_told_what(folder, capsys, source, words):
    (folder / "mine.py").write_text(sized(source), encoding="utf-8")
    assert command(folder, "--seconds", "60") == 2
    assert words in capsys.readouterr().err


def test_program_with_a_part_that_no_page_computes_gets_a_card_and_is_told_which(folder, capsys):
    source = sized(changed(STYLES["SwiGLU"]))
    (folder / "mine.py").write_text(source, encoding="utf-8")
    assert command(folder, "--seconds", "60") == 0
    assert "one of the three is a gate" in capsys.readouterr().out
    assert not (folder / "mine.html").exists()
    assert (folder / "mine.md").exists()


def made(source, config=CONFIG):
    torch.manual_seed(1)
    sizes = (getattr(config, name) for name in own_program.SIZES)
    model = names_of(source)["GPT"](*sizes)
    with torch.no_grad():
        for name, one in model.named_parameters():
            one += 0.3 * torch.randn_like(one)
            if name.endswith("c_attn.bias"):
                one[: config.n_embd] = 0
    return model.eval()


@pytest.mark.parametrize(
    "source",
    [PLAIN, OF_A_KNOWN_SHAPE, changed(STYLES["a bias on the output"])],
    ids=["plain", "of a known shape", "a bias on the output"],
)
def test_figures_show_a_program_of_ones_own(source):
    model = made(source)
    live = LiveModel.of(model, Vocabulary(LETTERS), "abc", config=CONFIG)
    tokens = torch.tensor([[0, 1, 2]])
    with torch.no_grad():
        logits = role_map.logits_in(model(tokens, tokens), 1, 3, 6)
    right = logits[0, -1].div(0.8).softmax(-1).numpy()
    assert np.abs(live.probabilities - right).max() < 0.02  # matrices are rounded to 8 bits
    assert (
        len(LookingInside.of(model, Vocabulary(LETTERS), "abcabc", config=CONFIG).whole.losses) == 5
    )


@pytest.mark.browser
@pytest.mark.parametrize(
    "source",
    [OF_A_KNOWN_SHAPE, changed([*STYLES["a bias on the output"], ("F.relu(", "F.gelu(")])],
    ids=["of a known shape", "a GELU and a bias on the output"],
)
def test_saved_page_writes_offline_what_torch_writes(visit, tmp_path, source):
    model = made(source)
    program = own_program.Program("print('mine < yours')", None, None, None)
    page = own_gpt.live_page(model, CONFIG, list(LETTERS), program, "some facts", "abc")
    file = tmp_path / "mine.html"
    file.write_text(page, encoding="utf-8")
    figure = LiveModel.of(role_map.gpt_of(model, CONFIG), Vocabulary(LETTERS), "abc")
    friend = visit(file.as_uri())
    friend.page.goto(file.as_uri())
    friend.page.locator("[data-mounted]").wait_for()
    friend.page.wait_for_function("document.querySelector('.course-figure').shown")
    assert np.allclose(shown(friend.page, "probabilities"), figure.probabilities, atol=1e-5)
    friend.page.get_by_role("button", name="One symbol").click()
    settle(friend.page)
    assert trait(friend.page, "text") == figure.write(1)
    assert "print('mine < yours')" in friend.page.locator("pre").inner_text()
    assert friend.faults == []


def test_ladder_is_that_of_the_stored_runs():
    path = own_gpt.Path(__file__).parents[2] / "benchmarks/results/ladder.json"
    rungs = json.loads(path.read_text(encoding="utf-8"))["results"]["rungs"]
    for name, loss in own_gpt.LADDER.items():
        found = [run["loss"] for run in rungs[name]["runs"]]
        assert loss == pytest.approx(sum(found) / len(found), abs=6e-4)


def test_query_biases_are_named_before_anything_is_made():
    model = made(changed(STYLES["biases everywhere"]))
    with pytest.raises(CheckpointError, match="queries of block 0 have biases"):
        role_map.gpt_of(model, CONFIG)
