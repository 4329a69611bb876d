"""The store itself: how large it is, and runs taken out of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ..errors import InputError
from ..store import Store, clean_store, store_parts
from ..suggest import unknown_name
from .options import PathLike, store_root

if TYPE_CHECKING:
    import pandas as pd

_ACTIONS = ("size", "clean")


def store_verb(
    action: Literal["size", "clean"] = "size",
    *,
    runs: Sequence[str] = (),
    keep: int | None = None,
    store: PathLike | None = None,
) -> "pd.DataFrame":
    """Say how large the store is, or remove runs from it for good.

    `size`: one row a part of its folder; columns: part (`spools`, `database`, `artifacts`, `cache`, `work`, `other`;
    text), files and bytes (int64). `clean` removes `runs` by their ids and, with `keep`, of each job all finished runs
    but the latest so many, then the files that nothing needs any more; one row a removed run, column run_id (text).

    Raises: InputError for an unknown action or run, one that is under way or that a fork needs, or `keep` below 1;
        StoreError.
    """
    import pandas as pd

    if action not in _ACTIONS:
        raise InputError(unknown_name("action", action, _ACTIONS))
    root = store_root(store)
    if action == "size":
        if runs or keep is not None:
            raise InputError("`runs` and `keep` are for the action `clean`")
        rows = [(part.name, part.files, part.bytes) for part in store_parts(root)]
        frame = pd.DataFrame(rows, columns=["part", "files", "bytes"])
        return frame.astype({"part": "str", "files": "int64", "bytes": "int64"})
    if keep is not None and keep < 1:
        raise InputError(f"keep={keep}: at least 1 run of each job is kept; to remove all, delete `{root}`")
    return pd.DataFrame({"run_id": pd.Series(clean_store(Store(root), runs=runs, keep=keep), dtype="str")})
