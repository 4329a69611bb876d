"""What kind of failure a failed model request is."""

import pytest

from stepsnb.effects import EffectFailed, code_of
from stepsnb.errors import ErrorCode, ProviderError


@pytest.mark.parametrize(
    ("status", "retryable", "code"),
    [
        (429, True, ErrorCode.RATE_LIMITED),
        (429, False, ErrorCode.RATE_LIMITED),
        (401, False, ErrorCode.REFUSED),
        (400, False, ErrorCode.REFUSED),
        (402, False, ErrorCode.REFUSED),
        (404, False, ErrorCode.REFUSED),
        (408, True, ErrorCode.DEADLINE_EXCEEDED),
        (504, True, ErrorCode.DEADLINE_EXCEEDED),
        (409, True, ErrorCode.PROVIDER_ERROR),
        (500, True, ErrorCode.PROVIDER_ERROR),
        (503, True, ErrorCode.PROVIDER_ERROR),
        (200, False, ErrorCode.PROVIDER_ERROR),
        (None, True, ErrorCode.PROVIDER_ERROR),
    ],
)
def test_the_status_says_the_code(status, retryable, code):
    assert code_of(ProviderError("x", status=status, retryable=retryable)) is code


def test_a_timeout_below_the_error_is_a_deadline():
    failure = ProviderError("no answer for 540 s", retryable=True)
    failure.__cause__ = TimeoutError()
    assert code_of(failure) is ErrorCode.DEADLINE_EXCEEDED


def test_an_error_may_say_its_code_itself():
    failure = ProviderError("the budget is spent", status=500)
    failure.code = ErrorCode.BUDGET_EXCEEDED
    assert code_of(failure) is ErrorCode.BUDGET_EXCEEDED


def test_the_five_codes_are_those_scripts_rely_on():
    assert [str(code) for code in ErrorCode] == [
        "provider_error",
        "rate_limited",
        "refused",
        "budget_exceeded",
        "deadline_exceeded",
    ]


def test_a_failure_says_of_itself_that_it_is_final():
    failure = EffectFailed("no")
    assert (failure.code, failure.retryable, failure.retry_after_s) == (ErrorCode.PROVIDER_ERROR, False, None)
