"""A page loads the styles, the icons and the scripts that it uses, and no others."""

import pytest
from light_pages import PageWeightError, applicable, icons, lighten, sized

THEME = 'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";'
HEAD = (
    f"<head><script>{THEME}</script>"
    '<script defer src="_static/scripts/fontawesome.js?digest=1"></script>'
    '<script src="_static/documentation_options.js?v=1"></script>'
    '<script src="_static/doctools.js?v=1"></script>'
    '<script src="_static/searchtools.js"></script><script src="searchindex.js"></script>'
    "<script>let hint = 'Show';</script></head><body>{}</body>"
)


@pytest.mark.parametrize(
    "rule",
    [
        "p{margin:0}",
        ".used{color:red}",
        ".used > #place:hover::before{content:'}'}",
        '.used:not(.absent, [data-x=".gone"]){color:red}',
        ":is(.absent, .used) p{color:red}",
        "@media print{\n.used{color:red}\n}",
        "@keyframes turn{to{rotate:1turn}}",
        ":root{--absent:1}",
        ".us\\ed{color:red}",
    ],
)
def test_rule_that_can_apply_stays(rule):
    kept = applicable(rule, {"used", "place"})
    assert kept.replace("\n", "") == rule.replace("\n", "")


@pytest.mark.parametrize(
    "rule",
    [
        ".absent{color:red}",
        ".used.absent{color:red}",
        "p .absent:hover{color:red}",
        "#gone{color:red}",
        "@media (min-width: 9rem){.absent{color:red}.used .absent{color:red}}",
        "/* a comment with { a brace */",
    ],
)
def test_rule_that_applies_nowhere_goes(rule):
    assert applicable(rule, {"used"}).strip() == ""


def test_of_alternatives_only_the_possible_stay():
    assert applicable(".used,.absent,p{x:y}", {"used"}) == ".used,p{x:y}\n"


def test_rules_after_one_that_goes_keep_their_order():
    style = (
        "@charset 'utf-8';.a{x:1}.absent{x:2}.b{background:url('data:,{}')}/*! license */.c{x:3}"
    )
    kept = applicable(style, {"a", "b", "c"})
    assert [kept.index(one) for one in (".a", ".b", "license", ".c")] == sorted(
        kept.index(one) for one in (".a", ".b", "license", ".c")
    )
    assert "absent" not in kept


def test_style_sheet_with_a_brace_too_many_fails_the_build():
    with pytest.raises(PageWeightError, match="brace"):
        applicable("p{x:1}}", set())


def test_icon_is_drawn_by_its_solid_shape():
    script = '{bars:[448,512,[],"f0c9","outline"]};x={"bars":[448,512,["navicon"],"f0c9","M0 9z"]}'
    style = icons(script, ["fa-bars"])
    assert ".fa-bars::before" in style
    assert "M0 9z" in style
    assert "outline" not in style
    with pytest.raises(PageWeightError, match="fa-no-such"):
        icons(script, ["fa-no-such"])


def test_page_loads_no_icon_script_and_no_search_index():
    page = lighten(HEAD.format("<p>text</p>"))
    assert "fontawesome.js" not in page
    assert "searchindex.js" not in page
    assert "searchtools.js" not in page
    assert page.endswith("<body><p>text</p></body>")


def test_page_of_search_results_keeps_what_it_searches_with():
    page = lighten(HEAD, search=True)
    assert page.index("searchtools.js") < page.index("searchindex.js")


def test_scripts_wait_for_the_page_but_for_the_one_that_the_page_speaks_to():
    page = lighten(HEAD)
    assert '<script defer="defer" src="_static/doctools.js?v=1">' in page
    assert '<script src="_static/documentation_options.js?v=1">' in page
    assert "<script>let hint = 'Show';</script>" in page


def test_no_script_comes_before_the_styles_and_none_for_tabs_that_a_page_lacks():
    early = (
        '<link rel="preload" as="script" href="bootstrap.js?digest=1" />'
        '<script data-sd-tabs-storage-prefix="tab-" src="design-tabs.js?v=1"></script></head>'
    )
    head = HEAD.replace("</head>", early)
    page = lighten(head)
    assert "preload" not in page
    assert "design-tabs" not in page
    assert "design-tabs" in lighten(head.format('<div class="sd-tab-set"></div>'))


def test_theme_without_its_icon_script_fails_the_build():
    with pytest.raises(PageWeightError, match="fontawesome"):
        lighten("<head></head>")


def test_theme_that_names_itself_in_another_way_fails_the_build():
    with pytest.raises(PageWeightError, match="localStorage"):
        lighten(HEAD.replace('"auto"', '"light"'))


def test_page_knows_its_theme_before_it_is_painted():
    page = lighten(HEAD)
    assert '"auto"' not in page
    assert page.index("prefers-color-scheme: dark") < page.index("doctools.js")


def test_block_of_code_says_its_lines():
    page = sized('<div class="highlight"><pre><span></span>a\n<b>b</b>\n\nc\n</pre></div>')
    assert page.startswith('<div class="highlight" style="--lines: 4"><pre>')
