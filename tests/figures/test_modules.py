"""The modules that figures are made of: how they import, and how they reach a page."""

import re

import pytest

import course_figures as figures
from course_figures import pages, sources
from course_figures.errors import FigureError

MODULES = [path.relative_to(sources.FOLDER).as_posix() for path in sources.RUNTIME.glob("*.js")]
SCRIPTS = {"runtime/linker.js", "runtime/mount.js"}  # classic ones: no module, and imported by none
MOST_LINES = 300
IMPORTS = re.compile(r'^import \{([^}]*)\} from "(.*)";$', re.MULTILINE)
EXPORTS = re.compile(r"^export (?:const|class|function\*?) (\w+)", re.MULTILINE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of modules of one's own, in the place of `course_figures`."""
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    (tmp_path / "runtime").mkdir()
    return tmp_path


def every_module():
    """The modules of all figures, and those of the workers that they start."""
    found = dict.fromkeys(sources.needed(*sources.names()))
    for path in sources.WORKERS.values():
        found |= dict.fromkeys(sources.needed_by(path))
    return list(found)


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")


def test_every_part_of_the_runtime_has_one_job_and_a_figure_that_uses_it():
    assert set(every_module()) >= set(MODULES) - SCRIPTS
    for path in MODULES:
        lines = (sources.FOLDER / path).read_text(encoding="utf-8").count("\n")
        assert lines <= MOST_LINES, f"{path}: {lines} lines"


def test_every_name_that_is_imported_is_exported():
    for path in every_module():
        text = (sources.FOLDER / path).read_text(encoding="utf-8")
        for names, source in IMPORTS.findall(text):
            other = (sources.FOLDER / path).parent / source
            exported = set(EXPORTS.findall(other.read_text(encoding="utf-8")))
            assert {name.strip() for name in names.split(",") if name.strip()} <= exported, path


@pytest.mark.parametrize(
    ("sign", "module"),
    [
        ("Math.exp(", "softmax.js"),
        ('"keydown"', "keys.js"),
        ("ctrlKey", "keys.js"),
        ("getBoundingClientRect", "pointer.js"),
        ("atob(", "arrays.js"),
        ("1e-5", "layers.js"),
    ],
)
def test_what_figures_share_is_written_once(sign, module):
    every = [*sources.FOLDER.glob("*.js"), *sources.RUNTIME.glob("*.js")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in every}
    gelu = "Math.exp(-z * z)"  # its error function is no softmax, and stands once as well
    assert sum(text.count(gelu) for text in texts.values()) == 1
    found = [name for name, text in texts.items() if sign in text.replace(gelu, "")]
    assert found == [module]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('import { a } from "./b.js"', "import { a } from"),  # without its semicolon
        ('import a from "./b.js";', "import a from"),
        ('import * as a from "./b.js";', r"import \* as a"),
        ('import "./b.js";', 'import "./b.js"'),
        ("import { a } from './b.js';", "import { a } from"),
        ('import { a } from "https://far.example/b.js";', "far.example"),
        ('import { a } from "b";', 'from "b"'),
        ('const a = await import("./b.js");', "import"),
        ('export { a } from "./b.js";', "export { a } from"),
        ('export * from "./b.js";', r"export \* from"),
        ('import { a } from "./c.js";', r"'./c.js', which is no file"),
        ('import { a } from "../../outside.js";', "which is no file of course_figures"),
    ],
)
def test_import_that_no_page_could_follow_is_refused_in_words(folder, text, says):
    write(folder, a=f"{text}\n", b="export const a = 1;\n")
    with pytest.raises(FigureError, match=says):
        sources.needed("a")


def test_imports_in_a_circle_are_refused_with_the_circle(folder):
    write(
        folder,
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { c } from "./c.js";\nexport const b = 1;\n',
        c='import { b } from "./b.js";\nexport const c = 1;\n',
    )
    with pytest.raises(FigureError, match=r"b\.js → c\.js → b\.js"):
        sources.needed("a")


def test_module_comes_after_all_that_it_imports_over_several_lines_too(folder):
    write(
        folder,
        a='import {\n  b,\n  other,\n} from "./b.js";\nimport { c } from "./runtime/c.js";\n',
        b='// import { a } from "./a.js";\nimport { c } from "./runtime/c.js";\n',
    )
    write(folder / "runtime", c="export const c = 1;\n")
    assert sources.needed("a") == ["runtime/c.js", "b.js", "a.js"]
    assert '"b.js", `";\nimport { c } from "`, "runtime/c.js"' in sources.registration("a.js")


def test_comments_and_indents_stay_at_home_and_every_line_keeps_its_number(folder):
    text = "/** What\n * it is. */\nconst a = 1; // one\n  // two /* */\n  /* 3 */ const b =  2;\n"
    write(folder, a=text)
    kept = "\n\nconst a = 1; // one\n\n/* 3 */ const b =  2;\n//# sourceURL="
    assert kept in sources.registration("a.js")


def test_no_text_goes_over_several_lines_where_it_could_look_like_a_comment_or_lose_an_indent():
    for path in [*sources.FOLDER.glob("*.js"), *sources.RUNTIME.glob("*.js")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert line.count("`") % 2 == 0, f"{path.name}:{number}"


NASTY = """export const a = "</script><!--<script>" + '\\n\\\\' + `${1 + 1} \\` \\${`.length;
export const b = "naïve, \u2028 “–”";
"""


@pytest.mark.browser
def test_module_arrives_letter_by_letter_and_cannot_end_the_script_that_holds_it(
    figure_page, request
):
    page = figure_page(figures.Averaging())
    folder = request.getfixturevalue("folder")  # only now: the page needs the real one
    write(folder, nasty=NASTY)
    statement = sources.registration("nasty.js")
    assert not re.search(r"</script|<!--|<script", statement)
    arrived = page.evaluate(
        """(statement) => {
          let given;
          new Function("courseFigures", statement)({ register: (...all) => { given = all; } });
          return given;
        }""",
        statement,
    )
    assert arrived == ["nasty.js", f"{NASTY}//# sourceURL=course_figures/nasty.js\n"]


@pytest.mark.browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_error_names_the_file_and_the_line_it_comes_from(figure_page, over):
    page = figure_page(figures.Averaging(), over=over)
    stack = page.evaluate(
        """async () => {
          const { decode } = await courseFigures.load("runtime/arrays.js");
          try { decode({ dtype: "float99", shape: [], base64: "" }); }
          catch (error) { return error.stack; }
        }"""
    )
    lines = (sources.RUNTIME / "arrays.js").read_text(encoding="utf-8").splitlines()
    thrown = 1 + next(i for i, line in enumerate(lines) if "cannot be shown" in line)
    assert f"course_figures/runtime/arrays.js:{thrown}:" in stack


@pytest.mark.browser
def test_figures_of_a_page_share_one_copy_of_what_they_import(figure_page):
    page = figure_page(figures.Averaging(), figures.Windows(), figures.Averaging())
    ids = page.locator(".course-figure > p[id]").evaluate_all("all => all.map(one => one.id)")
    counted = [int(re.fullmatch(r"cf-(\d+)-\w+", one)[1]) for one in ids]
    assert counted == sorted(set(counted))  # a copy of its own would begin at 1 again


def test_text_for_jupyterlab_holds_the_figure_with_all_that_it_imports_and_asks_for_nothing_else():
    for name in sources.names():
        text = sources.module(name)
        given = re.findall(r'^courseFigures\.register\("([\w/.]+)"', text, re.MULTILINE)
        assert given == sources.needed(name)
        assert text.count("\nexport default ") == 2  # the figure's own, and that of the whole
        assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg", "", text)


@pytest.mark.slow
def test_scripts_of_a_page_hand_over_what_its_figures_need_and_no_weights_that_nobody_wants():
    for name in sources.names():
        texts = pages.scripts(name)
        assert next(iter(texts)) == pages.SHARED
        given = re.findall(r'^courseFigures\.register\("([\w/.]+)"', "".join(texts.values()), re.M)
        assert len(given) == len(set(given))
        assert set(given) == set(sources.needed(name)) | set(sources.common())
        carry = ("live_model", "first_screen", "follow_letter", "looking_inside")
        assert ("runtime/live_weights" in texts) == (name in carry)
