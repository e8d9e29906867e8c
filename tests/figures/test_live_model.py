"""The model in the page: equal to torch, used by hand, and clear about what it cannot do."""

import base64
import copy

import numpy as np
import pytest
import torch
from engine_weights import attention_of, open_engine
from interactions import message, settle, shown, too_wide, trait, violations

from course_figures.errors import FigureError
from course_figures.live_model import LiveModel
from course_figures.live_weights import live_model
from course_lib.errors import UnknownSymbolError

browser = pytest.mark.browser

ENOUGH = """First Citizen:
Before we proceed any further, hear me speak.

All:
Speak, speak.

KING RICHARD III:
What is't o'clock? & 3$, QUEEN: "no"-JOHN; xyz! Zounds.
""".replace('"', "'")


def prompts():
    """60 prompts: one symbol, a full block, beyond it, line breaks only, pieces of all sizes."""
    _, vocabulary, facts = live_model()
    B, rng = facts["model"]["config"]["block_size"], np.random.default_rng(4)
    symbols = np.array(vocabulary.symbols)
    fixed = ["\n", "a", " ", "\n" * B, "\n\n\n" * 40, "A\n" * 20, ENOUGH[:B], ENOUGH[: B + 1]]
    fixed += [ENOUGH, ENOUGH[: B - 1], "".join(symbols), "e" * B]
    drawn = ["".join(rng.choice(symbols, rng.integers(1, 2 * B))) for _ in range(24)]
    starts = rng.integers(0, len(ENOUGH) - 5, 24)
    return fixed + drawn + [ENOUGH[s : s + rng.integers(1, 2 * B)] for s in starts]


@pytest.fixture
def room(figure_page):
    return open_engine(figure_page(LiveModel()))


def read_all(room, tokens, sizes):
    """Logits (T, V) and weights (L, H, T, T) that the page computes for tokens (N,)."""
    B, L, H = sizes
    found = room.evaluate(
        """(tokens) => {
          const { engine } = room;
          engine.clear();
          engine.follow(tokens, false);
          const packed = data => room.encode({ shape: [], data: Float64Array.from(data) });
          return [engine.length, packed(engine.logits).base64, packed(engine.weights).base64];
        }""",
        tokens.tolist(),
    )
    T = found[0]
    logits, weights = (np.frombuffer(base64.b64decode(data)) for data in found[1:])
    return logits.reshape(B, -1)[:T], weights.reshape(L, H, B, B)[:, :, :T, :T]


@browser
def test_logits_and_attention_are_those_of_torch_over_many_prompts(room):
    """Of the torch model in float64 to 1e-9, and attention of the one in float32 to 1e-5.

    Logits of this model reach 16, and float32 alone moves them by up to 3e-5.
    """
    model, vocabulary, _ = live_model()
    exact = copy.deepcopy(model).double()
    sizes = (model.block_size, model.config.n_layer, model.config.n_head)
    assert len(prompts()) >= 50
    for prompt in prompts():
        tokens = vocabulary.encode(prompt)
        read = tokens[-model.block_size :].unsqueeze(0)
        mine = read_all(room, tokens, sizes)
        with torch.inference_mode():
            double = exact(read)[0][0].numpy(), attention_of(exact, read).numpy()
            single = model(read)[0][0].numpy(), attention_of(model, read).numpy()
        for ours, theirs, rounded, allowed in zip(mine, double, single, (5e-5, 1e-5), strict=True):
            assert ours.shape == theirs.shape
            assert np.abs(ours - theirs).max() < 1e-9, prompt
            assert np.abs(ours - rounded).max() < allowed, prompt


@browser
@pytest.mark.parametrize("last_only", [True, False])
def test_what_is_kept_gives_the_same_as_reading_anew(room, last_only):
    """Text that grows, is taken back, is changed in the middle, and slides beyond the block."""
    tokens = live_model()[1].encode(ENOUGH * 2).tolist()
    texts = [tokens[:1], tokens[:9], tokens[:10], tokens[:64], tokens[:65], tokens[:70]]
    texts += [
        tokens[:30],
        tokens[:12] + tokens[40:60],
        tokens[:12] + tokens[40:60],
        tokens[100:170],
    ]
    worst = room.evaluate(
        """([texts, lastOnly]) => {
          const anew = new room.Engine(room.loadWeights(room.LIVE_WEIGHTS));
          let worst = 0;
          texts.forEach((text, i) => {
            // Both ways of reading take turns, so that rows which one left out must be made up for.
            const last = i % 3 === 2 ? !lastOnly : lastOnly;
            const kept = room.engine.follow(text, last);
            anew.clear();
            const fresh = anew.follow(text, false);
            fresh.forEach((logit, v) => { worst = Math.max(worst, Math.abs(logit - kept[v])); });
            if (last) return;
            for (let layer = 0; layer < anew.L; layer++) for (let h = 0; h < anew.H; h++)
              for (let t = 0; t < anew.length; t++) for (let s = 0; s < anew.length; s++) {
                const at = ((layer * anew.H + h) * anew.B + t) * anew.B + s;
                worst = Math.max(worst, Math.abs(anew.weights[at] - room.engine.weights[at]));
              }
          });
          return worst;
        }""",
        [texts, last_only],
    )
    assert worst < 1e-6


def write_passage(page):
    """Where nothing moves, a passage appears at once when it is written; returns the text."""
    page.get_by_role("button", name="Write").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Write").wait_for()
    settle(page)
    return trait(page, "text")


@browser
def test_page_writes_the_text_that_torch_writes_with_the_same_seed(figure_page):
    figure = LiveModel("ROMEO:\n", seed=7, temperature=0.9)
    page = figure_page(figure, calm=True)
    written = write_passage(page)
    assert len(written) == len("ROMEO:\n") + 200
    assert written[:100] == figure.write(93)
    settle(page)
    figure.change(text=written)
    assert np.allclose(shown(page, "probabilities"), figure.probabilities, atol=1e-5)


@browser
@pytest.mark.parametrize("full_speed", [False, True])
def test_it_writes_on_until_it_is_paused(figure_page, full_speed):
    page = figure_page(LiveModel("To be"))
    if full_speed:
        page.get_by_label("full speed").check()
    page.get_by_role("button", name="Write").click()
    page.wait_for_function(
        "many => document.querySelector('.live_model-text').textContent.length > many",
        arg=90 if full_speed else 12,
    )
    page.get_by_role("button", name="Pause").click()
    settle(page)
    text = trait(page, "text")
    page.wait_for_timeout(150)
    assert trait(page, "text") == text
    assert text.startswith("To be")
    assert message(page) == ""


INSIDE = """() => {
  const box = document.querySelector(".live_model-text").getBoundingClientRect();
  return [".live_model-text > div", ".live_model-text mark"].map((name) => {
    const part = document.querySelector(name).getBoundingClientRect();
    return [part.top - box.top, box.bottom - part.bottom];
  });
}"""


@browser
def test_a_short_text_begins_at_the_top_and_of_a_long_one_the_end_is_seen(figure_page):
    page = figure_page(LiveModel("To be"), calm=True)
    (above, below), _ = page.evaluate(INSIDE)
    assert 0 < above < 30 < below
    write_passage(page)
    write_passage(page)
    (above, below), newest = page.evaluate(INSIDE)
    assert above < 0 < below < 30
    assert min(newest) > 0


@browser
def test_keyboard_alone_types_steps_and_looks_around(figure_page):
    page = figure_page(LiveModel(), over="file")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("O Romeo")
    assert trait(page, "text") == "O Romeo"
    page.get_by_role("button", name="One symbol").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    settle(page)
    assert len(trait(page, "text")) == len("O Romeo") + 2
    page.locator(".cf-heads input").first.focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert (trait(page, "layer"), trait(page, "head")) == (0, 1)
    page.locator(".live_model-context").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert "from “␣” at position 1" in page.locator(".live_model-looks").inner_text()
    page.wait_for_function(
        "document.querySelector('.cf-hidden[role=status]').textContent.includes('position 1')"
    )


@browser
def test_enter_in_the_prompt_writes_and_with_shift_breaks_the_line(figure_page):
    page = figure_page(LiveModel("ROMEO:"))
    prompt = page.get_by_label("Prompt")
    prompt.press("End")
    prompt.press("Shift+Enter")
    settle(page)
    assert trait(page, "prompt") == "ROMEO:\n"
    prompt.press("Enter")
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function(
        "document.querySelector('.course-figure-mount').figureModel.get('text').length > 10"
    )
    assert trait(page, "prompt") == "ROMEO:\n"


@browser
def test_mouse_over_a_symbol_shows_where_the_head_looked_from_there(figure_page):
    page = figure_page(LiveModel("O Romeo"))
    page.locator(".live_model-context").hover(position={"x": 17 * 3.5, "y": 10})
    settle(page)
    assert "from “o” at position 3" in page.locator(".live_model-looks").inner_text()


@browser
def test_a_finger_chooses_the_next_symbol(figure_page):
    page = figure_page(LiveModel("O Rome"), phone=True, touch=True)
    choice = page.locator(".live_model-choices button").first
    symbol = choice.locator("b").inner_text()
    choice.tap()
    settle(page)
    assert trait(page, "text") == "O Rome" + {"␣": " ", "↵": "\n"}.get(symbol, symbol)


@browser
def test_start_over_keeps_the_prompt_and_takes_another_seed(figure_page):
    page = figure_page(LiveModel("O", seed=3), calm=True)
    write_passage(page)
    page.get_by_role("button", name="Start over").click()
    page.get_by_label("temperature").press("End")
    settle(page)
    assert (trait(page, "text"), trait(page, "seed")) == ("O", 4)
    assert trait(page, "temperature") == LiveModel.temperature.most


@browser
def test_full_text_says_so_to_the_eye_and_to_the_ear_and_takes_no_symbol(figure_page):
    prompt = "O"
    page = figure_page(LiveModel(prompt, text=prompt + "e" * 3998), calm=True)
    note, status = page.locator(".live_model-note"), page.locator(".cf-hidden[role=status]")
    one = page.get_by_role("button", name="One symbol")
    one.click()
    settle(page)
    assert not note.is_visible()
    choice = page.locator(".live_model-choices button").first
    choice.click()
    settle(page)
    assert len(trait(page, "text")) == 4001
    full = "4,000 symbols are written: start over to go on."
    assert note.inner_text() == full
    for button in (one, choice, page.get_by_role("button", name="Write")):
        button.click()
        settle(page)
        assert status.inner_text() == full
        assert len(trait(page, "text")) == 4001
    page.get_by_role("button", name="Start over").click()
    settle(page)
    assert not note.is_visible()


@browser
def test_unknown_symbol_is_named_with_its_place_and_goes_with_it(figure_page):
    page = figure_page(LiveModel("O"))
    page.locator("textarea").fill("O é 5")
    told = message(page)
    assert "“é” (U+00E9) at place 2" in told
    assert "Take it out of the prompt" in told
    page.get_by_role("button", name="Write").click()
    settle(page)
    assert "U+00E9" in message(page)
    page.locator("textarea").fill("O ")
    assert message(page) == ""


@browser
def test_empty_and_long_prompts_say_what_is_read_instead(figure_page):
    page = figure_page(LiveModel("O"))
    page.locator("textarea").fill("")
    settle(page)
    assert "begins as after a line break" in page.locator(".live_model-note").inner_text()
    assert np.allclose(shown(page, "probabilities"), LiveModel("").probabilities, atol=1e-5)
    page.locator("textarea").fill("word " * 20)
    settle(page)
    assert (
        "100 symbols; the model reads the last 64" in page.locator(".live_model-note").inner_text()
    )
    assert np.allclose(
        shown(page, "probabilities"), LiveModel("word " * 20).probabilities, atol=1e-5
    )
    assert message(page) == ""


@browser
def test_figure_after_writing_fits_and_breaks_no_rule(figure_page):
    page = figure_page(LiveModel(), phone=True, calm=True)
    write_passage(page)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        settle(page)
        assert too_wide(page) == 0
        assert violations(page) == []


@browser
def test_without_javascript_the_next_symbols_stand_as_a_picture(figure_page):
    page = figure_page(LiveModel(), scripts=False)
    still = page.locator(".course-figure-still")
    assert still.locator("svg").is_visible()
    assert "validation loss of 1." in still.inner_text()


def test_unknown_symbol_is_refused_and_where_it_was_typed_the_figure_says_so():
    with pytest.raises(UnknownSymbolError, match="é"):
        LiveModel("é")
    figure = LiveModel("O")
    figure.set_state({"prompt": "é", "text": "é"})
    assert "é" in figure.html().partition("<script")[0]
    figure.set_state({"prompt": "O", "text": "O"})
    assert figure.html() == LiveModel("O").html()


def test_text_must_begin_with_the_prompt():
    with pytest.raises(FigureError, match="the prompt is 'abc'"):
        LiveModel("abc", text="xyz")
