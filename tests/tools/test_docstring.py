import inspect

import pytest

from stepsnb.tools.docstring import Docstring, read_docstring


def test_empty_docstring_says_nothing() -> None:
    assert read_docstring("") == Docstring()


def test_sections_are_told_apart() -> None:
    text = """Say hello.

    More words: like these.

    Args:
        name: Who.
            Anybody, in fact: even you.
        *rest: What else.
        loud (bool, optional): Whether to shout

    Returns:
        The greeting.

    Raises:
        ValueError: For nobody.

    Note:
        Rude when loud.
    """
    doc = read_docstring(inspect.cleandoc(text))
    assert doc.text == (
        "Say hello.\n\nMore words: like these.\n\nReturns:\n    The greeting.\n\nNote:\n    Rude when loud."
    )
    assert doc.arguments == {
        "name": "Who. Anybody, in fact: even you.",
        "rest": "What else.",
        "loud": "Whether to shout",
    }


@pytest.mark.parametrize("heading", ["Args:", "Arguments:", "Parameters:"])
def test_arguments_have_several_headings(heading: str) -> None:
    assert read_docstring(f"Do.\n\n{heading}\n    a: One.").arguments == {"a": "One."}


def test_description_may_begin_on_the_next_line() -> None:
    assert read_docstring("Do.\n\nArgs:\n    a:\n        One.\n\n    b: Two.").arguments == {"a": "One.", "b": "Two."}
