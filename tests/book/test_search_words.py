"""The search finds words that are names of JavaScript, too."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import sphinx

from book._ext import search_words

SCRIPT = Path(sphinx.__file__).parent / "themes" / "basic" / "static" / "searchtools.js"

# What the script finds on a page around it.
PAGE = """
global.window = {}; global.document = { addEventListener() {}, readyState: "loading" };
global.Stemmer = class { stemWord(word) { return word; } };
global.stopwords = []; global.splitQuery = undefined; global._ready = () => {};
global.DOCUMENTATION_OPTIONS = {}; global.SPHINX_HIGHLIGHT_ENABLED = false;
"""

ASK = """
Search._index = {
    terms: { constructor_of: [0], attention: [0] }, titleterms: {}, titles: ["One"],
    filenames: ["one.html"], docnames: ["one"],
};
const found = (word) => Search.performTermsSearch(new Set([word]), new Set(["valueof"])).length;
console.log(JSON.stringify(["attention", "constructor", "tostring", "__proto__"].map(found)));
"""


def ask(tmp_path, script):
    program = tmp_path / "search.js"
    program.write_text(f"{PAGE}\n{script}\n{ASK}", encoding="utf-8")
    return subprocess.run(["node", program], capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: sudo apt-get install nodejs")
def test_word_that_every_object_has_is_searched_for_in_the_index(tmp_path):
    script = SCRIPT.read_text(encoding="utf-8")
    assert "TypeError" in ask(tmp_path, script).stderr  # what readers saw
    done = ask(tmp_path, search_words.with_own_words(script))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [1, 1, 0, 0]


def test_another_script_than_expected_is_said():
    with pytest.raises(search_words.SearchScriptError, match=r"terms = Search\._index\.terms"):
        search_words.with_own_words("const terms = something.else;")
