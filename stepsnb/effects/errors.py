"""How an effect fails: one error with a code, made from what an attempt raised or from a clock that ran out."""

from ..errors import ErrorCode, ProviderError, StepsError


class EffectFailed(StepsError):
    """An effect, or one attempt at it, that failed.

    An attempt raises it to say whether the same may succeed later (`retryable`) and how long it was asked to wait
    for that (`retry_after_s`). `run_effect` raises it once nothing is tried again; then `attempts` says how many
    there were, and `__cause__` is what the last attempt raised, None when a clock or a full queue ended it.
    """

    code: ErrorCode = ErrorCode.PROVIDER_ERROR

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode = ErrorCode.PROVIDER_ERROR,
        retryable: bool = False,
        retry_after_s: float | None = None,
        attempts: int = 1,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.attempts = attempts


def code_of(exc: ProviderError) -> ErrorCode:
    """Name the kind of failure of a model request: by the error's own word for it, else by its status."""
    if isinstance(exc.code, ErrorCode):
        return exc.code
    match exc.status:
        case 429:
            return ErrorCode.RATE_LIMITED
        case 408 | 504:
            return ErrorCode.DEADLINE_EXCEEDED
        case int(status) if 400 <= status < 500 and not exc.retryable:
            return ErrorCode.REFUSED
    return ErrorCode.DEADLINE_EXCEEDED if isinstance(exc.__cause__, TimeoutError) else ErrorCode.PROVIDER_ERROR


def is_repeatable(exc: EffectFailed | ProviderError) -> bool:
    """Whether another attempt may be made: a request that had begun to give output is never sent again."""
    return exc.retryable and getattr(exc, "partial", None) is None  # only `llm.RequestFailed` has it


def to_failure(exc: EffectFailed | ProviderError) -> EffectFailed:
    """Return what an attempt raised as an `EffectFailed`."""
    if isinstance(exc, EffectFailed):
        return exc
    return EffectFailed(str(exc), code=code_of(exc), retryable=is_repeatable(exc), retry_after_s=exc.retry_after_s)
