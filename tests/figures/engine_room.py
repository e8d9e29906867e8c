"""The parts inside a figure's module, called in a page as the module itself calls them."""

from course_lib.figures import sources

NAMES = "Engine, readWeights, loadWeights, LIVE_WEIGHTS, nextProbabilities, drawSymbol, course"


def open_engine(page, name="live_model"):
    """Put the parts of a module under `window.room`; the text is the one that pages get."""
    wanted = NAMES if name == "live_model" else "nextProbabilities, drawSymbol, course"
    text = f"{sources.module(name)}\nexport {{ {wanted} }};"
    page.evaluate(
        """async (text) => {
          const blob = new Blob([text], { type: "text/javascript" });
          window.room = { ...await import(URL.createObjectURL(blob)) };
          if (room.readWeights) room.engine = new room.Engine(room.loadWeights(room.LIVE_WEIGHTS));
        }""",
        text,
    )
    return page
