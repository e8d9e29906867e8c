"""The training in the page: equal to torch, held by the reader, and quiet when nobody looks."""

import base64

import numpy as np
import pytest
import torch
from interactions import message, settle, shown, trait, words

from course_figures import TrainingRun, play_excerpt, sources, training_run
from course_figures.errors import FigureError
from course_figures.sampling import uniforms
from course_lib.data import corpora
from course_lib.model import GPT, Bigram, Config, ManyHeads, OneHead, fuse

browser = pytest.mark.browser

V = 65
LONGEST = 32  # positions that a model of the page has
IN_TORCH = {
    "bigram": lambda V: Bigram(V),
    "one head": lambda V: OneHead(V, LONGEST, 24, 16),
    "four heads": lambda V: fuse(ManyHeads(V, LONGEST, 32, 4)),
    "one block": lambda V: fuse(GPT(Config(V, LONGEST, 1, 4, 32))),
    "four blocks": lambda V: fuse(GPT(Config(V, LONGEST, 4, 4, 32))),
}
PARTS = ("query", "key", "value")  # of one head; the page has them in one matrix

OPEN = """async (names) => {
  const load = (name) => courseFigures.load(`runtime/${name}.js`);
  window.room = Object.assign({}, ...await Promise.all(names.map(load)));
  room.pack = (array) => room.encode({ shape: [], data: array }).base64;
  room.told = (parameters) => parameters.parts.map(({ name, shape, weights, gradients }) =>
    [name, shape, room.pack(weights), room.pack(gradients)]);
}"""
LEARN = """([name, tokens, targets, T]) => {
  const trainable = new room.Trainable({ V: 65, B: 32, ...room.SIZES[name] }, 7);
  const { parameters } = trainable;
  // Away from where it begins: there some gradients are nearly 0, or the same for many parts.
  parameters.weights.forEach((w, i) => { parameters.weights[i] = w + 0.1 * Math.sin(i * i); });
  const loss = trainable.learn(Uint8Array.from(tokens), Uint8Array.from(targets), T);
  return [loss, room.told(parameters)];
}"""
RUN = """([name, text, settings, steps, exact]) => {
  // What the page computes, with all that it stores in twice as many bits.
  const usual = Float32Array;
  if (exact) globalThis.Float32Array = Float64Array;
  const loop = new room.TrainingLoop({ corpus: new room.Corpus(text), model: name, seed: 5 });
  const begun = room.told(loop.trainable.parameters);
  const losses = Array.from({ length: steps }, () => loop.step(settings));
  const validation = loop.validate(settings.context, true);
  globalThis.Float32Array = usual;
  return [begun, losses, [...loop.corpus.symbols].join(""), validation];
}"""


@pytest.fixture
def room(figure_page):
    """A page in which the modules of the training worker can be called by themselves."""
    page = figure_page(TrainingRun())
    found = sources.needed_by(sources.WORKERS["runtime/training_worker_text.js"])
    page.add_script_tag(content="".join(map(sources.registration, found)))
    page.evaluate(OPEN, ["training_loop", "trainable_models", "arrays"])
    return page


def numbers(packed, shape, kind=np.float32):
    return torch.from_numpy(np.frombuffer(base64.b64decode(packed), kind).copy().reshape(shape))


def in_torch(name, told, place=2, kind=np.float32):
    """What the page tells of its parameters, under the names of torch."""
    found = {}
    for part in told:
        values = numbers(part[place], part[1], kind)
        if part[0] == "head.query_key_value.weight":
            thirds = zip(PARTS, values.chunk(3), strict=True)
            found |= {f"head.{one}.weight": rows for one, rows in thirds}
        else:
            found[part[0]] = values
    return found


@browser
def test_gradients_of_every_parameter_are_those_of_torch(room):
    generator = torch.Generator().manual_seed(3)
    for name, build in IN_TORCH.items():
        for T in (8, 13):
            x, y = torch.randint(V, (2, 6, T), generator=generator)
            loss, told = room.evaluate(LEARN, [name, x.flatten().tolist(), y.flatten().tolist(), T])
            model = build(V).double()
            model.load_state_dict(in_torch(name, told))
            exact = model(x, y)[1]
            exact.backward()
            assert loss == pytest.approx(exact.item(), rel=1e-6)
            ours = in_torch(name, told, place=3)
            assert ours.keys() == dict(model.named_parameters()).keys()
            for part, parameter in model.named_parameters():
                difference = (ours[part] - parameter.grad).norm() / parameter.grad.norm()
                assert difference < 1e-4, (name, T, part)
                assert parameter.grad.norm() > 0, (name, T, part)


@browser
def test_fifty_steps_have_the_losses_of_torch(room):
    # What float32 rounds off grows from step to step, in torch, too: of four blocks, to 0.04 after
    # fifty steps. In float64 the same sums agree throughout, and in float32 they begin alike.
    text = training_run.excerpt()["text"][:30_000]
    batch, T, steps, rate = 16, 8, 50, 0.01
    for name, build in IN_TORCH.items():
        asked = [name, text, {"rate": rate, "batch": batch, "context": T}, steps]
        begun, losses, symbols, validation = room.evaluate(RUN, [*asked, True])
        tokens = torch.tensor([symbols.index(symbol) for symbol in text])
        cut = int(0.9 * len(tokens))
        model = build(len(symbols)).double()
        model.load_state_dict(in_torch(name, begun, kind=np.float64))
        optimizer = torch.optim.AdamW(
            [
                {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.01},
                {"params": [p for p in model.parameters() if p.ndim == 1], "weight_decay": 0.0},
            ],
            lr=rate,
            betas=(0.9, 0.99),
        )
        drawn = (uniforms(6, batch * steps) * (cut - T)).astype(int).reshape(steps, batch)
        for starts, ours in zip(drawn, losses, strict=True):
            windows = torch.stack([tokens[s : s + T + 1] for s in starts])
            optimizer.zero_grad()
            _, loss = model(windows[:, :-1], windows[:, 1:])
            loss.backward()
            optimizer.step()
            assert ours == pytest.approx(loss.item(), abs=1e-7), name
        held = tokens[cut:]
        many = (len(held) - 1) // T
        with torch.inference_mode():
            theirs = model(held[: many * T].view(many, T), held[1 : many * T + 1].view(many, T))[1]
        assert validation == pytest.approx(theirs.item(), abs=1e-7), name
        as_stored = room.evaluate(RUN, [*asked, False])[1]
        assert as_stored[:10] == pytest.approx(losses[:10], abs=1e-6), name
        assert as_stored[-1] == pytest.approx(losses[-1], abs=0.1), name
        assert as_stored[-1] < as_stored[0] - 0.2, name


def step(page):
    """How many steps the figure shows."""
    settle(page)
    return int(shown(page, "step")[0])


def wait_for_step(page, at_least):
    page.wait_for_function(
        "least => document.querySelector('.course-figure').shown?.step[0] >= least", arg=at_least
    )


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


@browser
def test_it_trains_until_it_is_paused_and_counts_pairs_as_python_does(figure_page):
    figure = TrainingRun(model="bigram", rate=0.1)
    page = figure_page(figure, over="file")
    wait_for_step(page, 0)
    sample = page.locator(".training_run-sample").inner_text()
    button(page, "Train").click()
    wait_for_step(page, 20)
    page.get_by_label("learning rate").press("ArrowLeft")  # while it runs
    page.get_by_label("context").press("ArrowRight")
    wait_for_step(page, step(page) + 5)
    button(page, "Pause").click()
    page.wait_for_function("document.querySelector('.course-figure').shown.exact[0] === 1")
    paused = step(page)
    assert (trait(page, "rate"), trait(page, "context")) == (0.05, 16)
    losses = shown(page, "validation")
    assert losses[-1] < losses[0] - 0.5
    assert shown(page, "counted")[0] == pytest.approx(figure.lines["counted"], abs=1e-6)
    assert page.locator(".training_run-sample").inner_text() != sample
    assert "on the validation text" in words(page)
    page.wait_for_timeout(300)
    assert step(page) == paused
    assert message(page) == ""


@browser
def test_same_seed_begins_alike_and_another_differently(figure_page):
    page = figure_page(TrainingRun(batch=4))
    page.keyboard.press("Tab")  # by keyboard alone
    one = button(page, "One step")
    found = []
    for again in ("", "Start over", "Another seed"):
        if again:
            button(page, again).press("Enter")
        wait_for_step(page, 0)
        page.wait_for_function("document.querySelector('.course-figure').shown.step[0] === 0")
        for _ in range(2):
            before = step(page)
            one.press("Enter")
            wait_for_step(page, before + 1)
        found.append(shown(page, "validation").tolist())
    assert found[0] == found[1] != found[2]
    assert trait(page, "seed") == 2


@browser
def test_it_stops_when_out_of_sight_and_goes_on_when_it_is_back(figure_page):
    page = figure_page(TrainingRun(batch=1))
    page.evaluate("document.querySelector('main').style.paddingBottom = '4000px'")
    button(page, "Train").click()
    wait_for_step(page, 5)
    page.evaluate("scrollTo(0, 3500)")
    page.wait_for_function("document.querySelector('.course-figure').shown.exact[0] === 1")
    away = step(page)
    page.wait_for_timeout(400)
    assert step(page) == away
    page.evaluate("scrollTo(0, 0)")
    wait_for_step(page, away + 5)


@browser
def test_reader_who_wants_nothing_to_move_sees_a_hundred_steps_at_once(figure_page):
    page = figure_page(TrainingRun(batch=1), calm=True)
    wait_for_step(page, 0)
    button(page, "Train 100 steps").click()
    wait_for_step(page, 1)
    assert step(page) == 100
    button(page, "Train 100 steps").wait_for()


@browser
def test_rate_that_is_too_high_is_told_and_start_over_mends_it(figure_page):
    page = figure_page(TrainingRun(model="one block", rate=1, batch=1))
    page.evaluate(
        """() => {
          const { figureModel } = document.querySelector(".course-figure-mount");
          figureModel.set("rate", 1e30);
          figureModel.save_changes();
        }"""
    )
    wait_for_step(page, 0)
    button(page, "Train").click()
    page.get_by_text("the loss is no number any more").first.wait_for()
    page.get_by_label("learning rate").press("Home")
    button(page, "Start over").click()
    wait_for_step(page, 0)
    assert message(page) == ""


@browser
def test_text_file_is_learned_from_and_stays_on_the_machine(figure_page, tmp_path):
    text = "".join(f"{n} green bottles\n" for n in range(400))
    file, short = tmp_path / "mine.txt", tmp_path / "short.txt"
    file.write_text(text, encoding="utf-8")
    short.write_text("too short", encoding="utf-8")
    page = figure_page(TrainingRun(model="bigram"))
    page.get_by_label("Another text").set_input_files(file)
    page.wait_for_function("() => document.querySelector('.course-figure').shown?.counted[0] < 1.5")
    assert trait(page, "text") == text
    counted = TrainingRun(model="bigram", text=text).lines["counted"]
    assert shown(page, "counted")[0] == pytest.approx(counted, abs=1e-6)
    page.get_by_label("Another text").set_input_files(short)
    page.get_by_text("The text has 9 symbols").wait_for()
    button(page, "Back to the play").click()
    settle(page)
    assert message(page) == ""


def test_lines_name_what_is_known_of_the_text():
    play = TrainingRun(model="four heads").lines
    assert list(play) == ["guess", "counted", "reached", "floor"]
    assert sorted(play.values(), reverse=True) == list(play.values())
    own = TrainingRun(text="abcd\n" * 500)
    assert list(own.lines) == ["guess", "counted"]
    assert "a text of your own" in own.alt
    like_it = "First Citizen:\n" + "".join(map(chr, range(200, 253))) * 22_000
    shakespeare = TrainingRun(text=like_it[:1_115_394])
    assert shakespeare.lines["reached"] == 2.409
    assert "on Tiny Shakespeare" in shakespeare.alt


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("too short", "has 9 symbols: give at least 2,000"),
        ("".join(map(chr, range(300, 700))) * 9, "has 400 different symbols: give one with at"),
    ],
)
def test_text_that_nothing_can_be_learned_from_is_refused(text, says):
    with pytest.raises(FigureError, match=says):
        TrainingRun(text=text)


def test_excerpt_is_the_beginning_of_the_play_and_knows_its_floor():
    whole = corpora.play_once()
    known = training_run.excerpt()
    assert known["text"] == whole.text[: play_excerpt.CHARACTERS]
    cut = int(training_run.TRAIN_SHARE * play_excerpt.CHARACTERS)
    assert known["floor"] == round(whole.floor(slice(cut, play_excerpt.CHARACTERS)), 3)
    assert tuple(known["reached"]) == training_run.MODELS == tuple(play_excerpt.MODELS)
    assert (known["steps"], known["batch"]) == (play_excerpt.STEPS, play_excerpt.BATCH_SIZE)


def test_models_of_the_excerpt_are_those_that_the_page_trains():
    sizes = [
        sum(p.numel() for p in build(V).parameters()) for build in play_excerpt.MODELS.values()
    ]
    assert sizes == [4225, 4009, 8609, 17_088, 54_912]
