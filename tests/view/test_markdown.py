import re

import pytest

from stepsnb.view.markdown import escape_text, render_markdown


def test_markdown_becomes_plain_structure():
    rendered = render_markdown(
        "## Title\n\nSome *text* with `code`.\n\n- one\n- two\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n"
    )

    assert rendered == (
        "<p><b>Title</b></p>\n"
        "<p>Some <em>text</em> with <code>code</code>.</p>\n"
        "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
        "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n"
        "<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n"
    )


def test_fenced_code_has_no_class():
    assert render_markdown("```python\nif a < b:\n    pass\n```") == "<pre>if a &lt; b:\n    pass\n</pre>\n"
    assert render_markdown("    indented") == "<pre>indented\n</pre>\n"


@pytest.mark.parametrize("url", ["https://example.com/a?b=1&c=2", "http://example.com", "mailto:a@example.com"])
def test_harmless_links_are_links_that_give_nothing_away(url):
    rendered = render_markdown(f"[text]({url})")

    escaped = url.replace("&", "&amp;")
    assert rendered == f'<p><a href="{escaped}" rel="nofollow noopener noreferrer">text</a></p>\n'


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#115;cript:alert(1)",
        "&#x6A;avascript:alert(1)",
        "vbscript:x",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//example.com/x",
        "/tree",
        "relative.md",
        "ftp://example.com",
    ],
)
def test_other_links_stay_text(url):
    for markdown in (f"[text]({url})", f"[text]: {url}\n\n[text]", f"<{url}>"):
        assert "href" not in render_markdown(markdown)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "text <b onmouseover=alert(1)>bold</b>",
        "<!-- comment --><style>*{display:none}</style>",
        '[a](https://example.com/"onclick="alert(1) "title\\"onclick=x")',
        "| <script>x</script> |\n|---|\n| <img src=x> |",
        "```<script>\n</pre><script>alert(1)</script>\n```",
        "`</code><script>alert(1)</script>`",
        "# <script>alert(1)</script>",
    ],
)
def test_nothing_a_model_writes_becomes_markup_of_its_own(hostile):
    rendered = render_markdown(hostile)

    tags = set(re.findall(r"<(/?[a-zA-Z!][^\s>]*)", rendered))
    harmless = {"p", "b", "pre", "code", "a", "span", "table", "thead", "tbody", "tr", "th", "td", "em", "strong"}
    assert {tag.lstrip("/") for tag in tags} <= harmless
    assert not re.search(r"<[^>]*\s(?!href=|rel=)[a-zA-Z-]+=", rendered)


def test_pictures_are_never_fetched():
    assert render_markdown("![the map](https://example.com/track.png)") == "<p>[picture: the map]</p>\n"
    assert render_markdown("![](https://example.com)") == "<p>[picture: without a description]</p>\n"
    assert render_markdown("![the map](map.png)") == "<p>![the map](map.png)</p>\n"


@pytest.mark.parametrize("tex", ["$\\href{javascript:x}{y}$", "\\(x\\)", "\\begin{equation}x\\end{equation}", "$$x$$"])
def test_tex_is_not_typeset(tex):
    for rendered in (escape_text(tex), render_markdown(f"text {tex}")):
        outside = re.sub(r"<span>[$\\]</span>", "", rendered)
        assert "$" not in outside
        assert "\\" not in outside


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["[", "*a_ ", "> ", "![](", "`", "- " * 3 + "\n", "|a" * 50 + "\n"])
def test_hostile_nesting_renders_to_its_end(unit):
    assert render_markdown((unit * 20_000)[:20_000]).endswith("\n")
