"""The model in the page: equal to torch, used by hand, and clear about what it cannot do."""

import base64
import copy
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_weights import attention_of, open_engine
from interactions import message, settle, shown, too_wide, trait, violations, words

from course_figures import live_weights, pages, sources
from course_figures.errors import FigureError
from course_figures.live_model import MARKUP, LiveModel, WritingModel
from course_figures.live_weights import live_model, pack, quantise, train, unpack
from course_lib import data
from course_lib.errors import CheckpointError, ConfigError, UnknownSymbolError
from course_lib.model import GPT, Bigram, Config, fuse

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
        "document.querySelector('[role=status]').textContent.includes('position 1')"
    )


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
    note, status = page.locator(".live_model-note"), page.locator("[role=status]")
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


LENGTH = "document.querySelector('.course-figure-mount').figureModel.get('text').length"

ANNOUNCED = """(wanted) => new Promise((done) => {
  const model = document.querySelector(".course-figure-mount").figureModel;
  const why = document.querySelector(".live_model-why");
  const found = new Map();
  new MutationObserver(() => {
    const said = /^“(.)” is drawn/u.exec(why.textContent);
    if (said) found.set(model.get("text").length, said[1]);
    if (found.size > wanted) done([...found].slice(0, wanted));
  }).observe(why, { childList: true, characterData: true, subtree: true });
})"""


@browser
def test_on_arrival_it_writes_what_it_announces_until_it_is_paused(figure_page):
    page = figure_page(WritingModel("To be"))
    height = page.locator(".course-figure-mount").bounding_box()["height"]
    announced = page.evaluate(ANNOUNCED, 4)
    assert page.locator(".course-figure-mount").bounding_box()["height"] == height
    page.get_by_role("button", name="Pause").click()
    settle(page)
    text = trait(page, "text")
    seen = {" ": "␣", "\n": "↵"}
    assert [seen.get(text[place], text[place]) for place, _ in announced] == [
        symbol for _, symbol in announced
    ]
    assert text == LiveModel("To be").write(len(text) - 5)
    page.get_by_role("button", name="Write").wait_for()


@browser
def test_out_of_sight_it_rests_and_goes_on_where_it_is_seen_again(figure_page):
    page = figure_page(WritingModel("To be"))
    page.wait_for_function(f"{LENGTH} > 6")
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("afterbegin", "<div style='height: 400vh'></div>");
          scrollTo(0, 0);
        }"""
    )
    before = -1
    while (now := page.evaluate(LENGTH)) != before:
        before = now
        page.wait_for_timeout(700)
    page.locator(".course-figure").scroll_into_view_if_needed()
    page.wait_for_function(f"{LENGTH} > {before}")


@browser
def test_where_nothing_may_move_it_waits_for_the_button_and_breaks_no_rule(figure_page):
    page = figure_page(WritingModel("To be"), calm=True, phone=True)
    settle(page)
    assert trait(page, "text") == "To be"
    assert page.locator(".live_model-why").inner_text().startswith("The likeliest of 65 symbols")
    assert len(write_passage(page)) == len("To be") + 200
    assert too_wide(page) == 0
    assert violations(page) == []


def own_model(**sizes):
    torch.manual_seed(2)
    settings = {"vocab_size": 5, "block_size": 12, "n_layer": 2, "n_head": 3, "n_embd": 12} | sizes
    return GPT(Config(**settings)), data.Vocabulary("abcde"[: settings["vocab_size"]])


@browser
def test_a_model_of_ones_own_lives_in_the_page_too(figure_page):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    page = figure_page(figure)
    page.wait_for_function("document.querySelector('.course-figure').shown")
    assert np.allclose(shown(page, "probabilities"), figure.probabilities, atol=1e-5)
    assert "2 layers of 3 heads" in words(page)


@browser
def test_a_model_of_ones_own_is_saved_as_one_light_page_that_writes_offline(visit, tmp_path):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    file = figure.save(tmp_path / "my-gpt.html", "A GPT of five letters")
    assert file == tmp_path / "my-gpt.html"
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_size < 1_000_000 + len(figure.weights)
    friend = visit(file.as_uri())
    friend.page.goto(file.as_uri())
    friend.page.locator("[data-mounted]").wait_for()
    friend.page.get_by_role("button", name="One symbol").click()
    settle(friend.page)
    assert trait(friend.page, "text") == figure.write(1)
    assert friend.page.title() == "A GPT of five letters"
    assert friend.faults == []


def test_figure_that_has_no_folder_to_be_saved_in_says_which_to_create(tmp_path):
    with pytest.raises(FigureError, match=r"there\.html has no folder to be in: create .*not"):
        LiveModel("O").save(tmp_path / "not" / "there.html")


@browser
def test_weights_that_are_not_numbers_are_told_and_the_rest_of_the_page_works(figure_page):
    model, vocabulary = own_model()
    with torch.no_grad():
        model.blocks[1].feed_forward.layers[0].weight[0, 0] = torch.nan
    page = figure_page(LiveModel.of(model, vocabulary, "abc"), LiveModel("O"), faulty=True)
    assert "not a number" in message(page, 0)
    assert "Train again" in message(page, 0)
    assert message(page, 1) == ""


@browser
@pytest.mark.parametrize("damage", ["shape", "cut", "noise"])
def test_damaged_weights_are_told(figure_page, damage):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    packed = base64.b64decode(figure.weights)
    if damage == "shape":
        packed = packed.replace(b'\\"n_embd\\": 12', b'\\"n_embd\\": 15')
    packed = {"cut": packed[:-400], "noise": b"nonsense" * 9}.get(damage, packed)
    page = figure_page(LiveModel("O"), faulty=True)
    broken = base64.b64encode(packed).decode()
    page.evaluate(
        """(weights) => {
          const model = document.querySelector(".course-figure-mount").figureModel;
          model.set("weights", weights);
          model.save_changes();
        }""",
        broken,
    )
    told = {"shape": "not those of this model"}.get(damage, "The weights cannot be read")
    assert told in message(page)
    page.get_by_role("button", name="Start again").click()
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


def test_words_name_the_corpus_that_the_model_was_trained_on(tmp_path):
    model, vocabulary = own_model()
    facts = {"vocabulary": "".join(vocabulary.symbols), "corpus": "play", "validation_loss": 1.5}
    path = tmp_path / "w.safetensors"
    live_weights.write_packed(path, model, facts)
    packed = base64.b64encode(path.read_bytes()).decode("ascii")
    assert "trained on the play to" in LiveModel("abc", weights=packed).alt
    assert "trained on Tiny Shakespeare to" in LiveModel("abc").alt


def test_text_must_begin_with_the_prompt():
    with pytest.raises(FigureError, match="the prompt is 'abc'"):
        LiveModel("abc", text="xyz")


def test_weights_in_the_library_are_light_and_say_where_they_come_from():
    model, vocabulary, facts = live_model()
    assert sources.LIVE_WEIGHTS.stat().st_size <= 600_000
    own = pages.scripts("live_model")
    assert sum(len(text.encode()) for name, text in own.items() if name != pages.SHARED) <= 600_000
    assert facts["corpus"] == "shakespeare"
    assert facts["steps"] == live_weights.STEPS
    assert len(facts["corpus_sha256"]) == 64
    assert 1.3 < facts["validation_loss"] < 1.65
    assert facts["validation_loss"] - facts["exact_validation_loss"] < 0.005
    assert len(vocabulary) == model.config.vocab_size == 65


def test_rounding_moves_no_weight_by_more_than_half_a_step():
    matrix = torch.randn(7, 30, generator=torch.Generator().manual_seed(1))
    matrix[2] = 0
    whole, scale = quantise(matrix)
    back = whole.float() * scale[:, None]
    assert (back - matrix).abs().le(scale[:, None] / 2 * 1.0001).all()
    assert (back[2] == 0).all()


def test_stored_weights_come_back_as_a_plain_model_with_the_same_logits(tmp_path):
    model, vocabulary = own_model()
    facts = {"vocabulary": "".join(vocabulary.symbols)}
    live_weights.write_packed(tmp_path / "w.safetensors", model, facts)
    back, known, _ = live_model(tmp_path / "w.safetensors")
    rounded = fuse(model)
    rounded.load_state_dict(unpack(pack(rounded)))
    tokens = torch.randint(5, (2, 9), generator=torch.Generator().manual_seed(0))
    assert known == vocabulary
    assert torch.allclose(back(tokens)[0], rounded(tokens)[0], atol=1e-6)


def test_changed_weights_are_refused(tmp_path):
    from course_lib.checkpoints import read_checkpoint, write_checkpoint

    packed, facts = read_checkpoint(sources.LIVE_WEIGHTS)
    packed["norm.bias"] = packed["norm.bias"] + 1
    write_checkpoint(tmp_path / "w.safetensors", packed, facts)
    with pytest.raises(CheckpointError, match="other weights than its digest"):
        live_model(tmp_path / "w.safetensors")


def test_only_a_gpt_can_live_in_the_page():
    with pytest.raises(ConfigError, match="a Bigram cannot live"):
        LiveModel.of(Bigram(5), data.Vocabulary("abcde"))


def test_a_gpt_of_the_readers_own_class_lives_in_the_page_if_it_computes_the_same():
    model, vocabulary = own_model()

    class Written(torch.nn.Module):  # as a notebook defines it: no GPT of the library
        def __init__(self, factor):
            super().__init__()
            self.config, self.factor = model.config, factor
            for name, part in model.named_children():
                setattr(self, name, part)

        def forward(self, tokens):
            return self.factor * GPT.forward(self, tokens)[0], None

    page_of = [LiveModel.of(one, vocabulary, "abc").probabilities for one in (Written(1), model)]
    assert np.array_equal(*page_of)
    with pytest.raises(ConfigError, match=r"this Written .* computes other logits"):
        LiveModel.of(Written(2), vocabulary)
    model.norm = torch.nn.Identity()
    with pytest.raises(ConfigError, match=r"parameters are not those.*norm\.weight"):
        LiveModel.of(Written(1), vocabulary)


def test_training_again_gives_the_same_weights():
    play = data.load("play")
    corpus = replace(play, splits={name: tokens[:2000] for name, tokens in play.splits.items()})
    first, second = (train(corpus, 2, progress=False)[0].state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_markup_for_the_first_page_is_the_figure_as_it_is_now():
    def state(markup):
        return json.loads(markup.partition('json">')[2].partition("</script>")[0])

    stored = MARKUP.read_text(encoding="utf-8")
    assert state(stored) == state(WritingModel().html())
    assert LiveModel().alt.split(" continues")[0] in stored
