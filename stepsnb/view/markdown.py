"""Renders a model's Markdown to HTML that cannot do anything: no raw HTML, scripts, styles, classes or pictures."""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SCHEMES = ("http://", "https://", "mailto:")
_REL = "nofollow noopener noreferrer"


def escape_text(text: str) -> str:
    """Escape `text` for use between tags, so that it is not taken as TeX either.

    Jupyter typesets `$…$`, `\\(…\\)` and `\\begin{…}` it finds in the text of an output, and TeX can link and
    style; a delimiter in an element of its own is not found, and reads the same.
    """
    return escape(text, quote=False).replace("\\", "<span>\\</span>").replace("$", "<span>$</span>")


def render_markdown(text: str) -> str:
    """Render `text` as CommonMark with tables; headings become bold lines, images their description."""
    return str(_renderer().render(text))


@cache
def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.validateLink = _is_harmless  # type: ignore[method-assign]  # the documented way to narrow links
    for rule, function in _RULES.items():
        markdown.add_render_rule(rule, function)
    return markdown


def _is_harmless(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)


def _text(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return escape_text(tokens[index].content)


def _image(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return f"[picture: {escape_text(tokens[index].content or 'without a description')}]"


def _link_open(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return f'<a href="{escape(str(tokens[index].attrs["href"]))}" rel="{_REL}">'


def _code_block(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return f"<pre>{escape(tokens[index].content, quote=False)}</pre>\n"


def _bare_open(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return f"<{tokens[index].tag}>"


def _heading_open(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return "<p><b>"


def _heading_close(_: Any, tokens: Sequence["Token"], index: int, options: Any, env: Any) -> str:
    return "</b></p>\n"


_RULES: dict[str, Any] = {
    "text": _text,
    "text_special": _text,
    "image": _image,
    "link_open": _link_open,
    "fence": _code_block,
    "code_block": _code_block,
    "th_open": _bare_open,
    "td_open": _bare_open,
    "heading_open": _heading_open,
    "heading_close": _heading_close,
}
