"""One thing that a reader does to each figure, and what Python then says of it."""


def press_end(figure):
    figure.locator("input[type=range]").first.press("End")


def click(label):
    return lambda figure: figure.get_by_role("button", name=label, exact=True).click()


def choose_second(figure):
    figure.get_by_role("radio").nth(1).check()


def choose_bigram(figure):
    figure.get_by_role("radio", name="bigram").check()


def uncheck(label):
    return lambda figure: figure.get_by_label(label, exact=True).uncheck()


def write_the_king(figure):
    figure.get_by_label("text", exact=True).fill("the king")


ANSWERS = {
    "Averaging": (click("ones"), "int(f.matrix.sum())", 64),
    "SoftmaxAndScale": (press_end, "f.temperature", 10.0),
    "Windows": (press_end, "f.block_size", 16),
    "BigramTable": (press_end, "f.smoothing", 100.0),
    "AttentionMap": (
        write_the_king,
        "[''.join(f.symbols), f.query_vectors.shape[2]]",
        ["the king", 8],
    ),
    "HeadShapes": (choose_second, "f.split", "view"),
    "ResidualStream": (choose_second, "f.norm", "post"),
    "Sampling": (press_end, "f.temperature", 3.0),
    "LookingInside": (uncheck("1.1"), "list(f.off)", ["1.1"]),
    "LiveModel": (click("One symbol"), "len(f.text) - len(f.prompt)", 1),
    "TrainingRun": (choose_bigram, "f.model", "bigram"),
    "FollowLetter": (click("Draw another"), "f.seed", 2),
}

# A page has no kernel to read another text with.
IN_A_PAGE = {name: act for name, (act, _, _) in ANSWERS.items()} | {
    "AttentionMap": lambda figure: figure.get_by_label("mask", exact=True).uncheck()
}
