"""`stepsnb cap`."""

from .conftest import value_of


def test_cap_is_set_shown_and_taken_away(stepsnb):
    assert stepsnb("cap").stdout == "no cap is set; runs spend what their budgets let them\n"
    assert stepsnb("cap", "2").stdout == "cap $2.00: $0.0000 spent, $2.0000 left\n"
    assert value_of(stepsnb("cap", "--json")) == {"cap": {"usd": 2.0, "spent_usd": 0.0, "left_usd": 2.0}}
    assert value_of(stepsnb("cap", "off", "--json")) == {"cap": None}


def test_amount_that_is_none_is_an_error(stepsnb):
    result = stepsnb("cap", "lots")
    assert (result.returncode, result.stderr) == (2, "cap `lots`: give US dollars, as in `2.00`, or `off`\n")
