"""The line of a magic: split like a shell's, its mistakes named, its help on request."""

import pytest

from stepsnb.errors import InputError
from stepsnb.notebook.arguments import Arguments, HelpShown


@pytest.fixture
def arguments() -> Arguments:
    arguments = Arguments("%steps try", "Try something.", example="%steps try one --use a b")
    arguments.add_argument("job", nargs="?", completes="job", help="the job")
    arguments.add_argument("--use", nargs="+", completes="variable")
    arguments.add_argument("--store", completes="path")
    arguments.add_argument("--memory", action="store_true")
    return arguments


def test_quotes_are_the_shells(arguments: Arguments) -> None:
    args = arguments.parse_line(""" "a job" --store 'my dir' """)

    assert (args.job, args.store) == ("a job", "my dir")


def test_a_semicolon_at_the_end_is_python_habit(arguments: Arguments) -> None:
    assert arguments.parse_line("one;").job == "one"


def test_an_unknown_option_says_where_help_is(arguments: Arguments) -> None:
    with pytest.raises(InputError, match=r"^%steps try: unrecognized arguments: --stor x; see `%steps try --help`$"):
        arguments.parse_line("one --stor x")


def test_an_open_quote_is_named(arguments: Arguments) -> None:
    with pytest.raises(InputError, match=r"^%steps try: no closing quotation in `one 'two`; close the quote$"):
        arguments.parse_line("one 'two")


def test_help_shows_the_example_and_ends_parsing(arguments: Arguments) -> None:
    with pytest.raises(HelpShown) as shown:
        arguments.parse_line("--help")

    assert "Try something." in str(shown.value)
    assert str(shown.value).endswith("example:\n  %steps try one --use a b")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ([], "job"),
        (["one"], None),
        (["--use"], "variable"),
        (["--use", "a"], "variable"),
        (["--store"], "path"),
        (["--store", "d"], "job"),
        (["--store", "d", "one"], None),
        (["--memory"], "job"),
    ],
)
def test_what_may_come_next_is_known(arguments: Arguments, words: list[str], kind: str | None) -> None:
    assert arguments.completes(words) == kind
