"""The spend cap of a store."""

from decimal import Decimal, InvalidOperation

from ..errors import InputError
from ..store.cap import Cap, read_cap, set_cap
from .options import PathLike, store_root


def cap(usd: float | str | Decimal | None = None, *, off: bool = False, store: PathLike | None = None) -> Cap | None:
    """Set, show or take away what all runs of a store may spend together, over all its kernels and processes.

    Args:
        usd: The ceiling in US dollars, counted from now on; None changes nothing.
        off: Take the ceiling away.

    Returns: the ceiling and what has been spent of it (`.usd`, `.spent_usd`, `.left_usd`), None where there is none.
    Raises: InputError for an amount that is none; StoreError.
    """
    root = store_root(store)
    if off or usd is not None:
        set_cap(root, None if off else _amount(usd))
    return read_cap(root)


def _amount(usd: object) -> Decimal:
    try:
        amount = Decimal(str(usd).removeprefix("$"))
    except InvalidOperation:
        raise InputError(f"cap `{usd}`: give US dollars, as in `2.00`, or `off`") from None
    if not amount.is_finite() or amount <= 0:
        raise InputError(f"cap `{usd}`: give more than 0 US dollars, or `off`")
    return amount


def cap_line(found: Cap | None) -> str:
    """Say in one line how a cap stands."""
    if found is None:
        return "no cap is set; runs spend what their budgets let them"
    return f"cap ${found.usd:.2f}: ${found.spent_usd:.4f} spent, ${found.left_usd:.4f} left"
