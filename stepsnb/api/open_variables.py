"""Which variables a pipeline's text uses, and what stands in for those that have no value yet."""

from collections.abc import Iterator, Mapping


class AskedVariables(Mapping[str, object]):
    """Values of variables that note which of them are asked for.

    With `stands_in`, one without a value is its own placeholder, so that the text around it can be read.
    """

    def __init__(self, values: Mapping[str, object], *, stands_in: bool) -> None:
        self._values = values
        self._stands_in = stands_in
        self._asked: dict[str, bool] = {}

    @property
    def names(self) -> list[str]:
        """What was asked for, in the order of the text."""
        return list(self._asked)

    @property
    def without_value(self) -> list[str]:
        """Those of them that have no value."""
        return [name for name, has_value in self._asked.items() if not has_value]

    def __getitem__(self, name: str) -> object:
        value = self._values.get(name)
        self._asked[name] = value is not None
        if value is None and self._stands_in:
            return f"(({name}))"
        return self._values[name]

    def __bool__(self) -> bool:
        return True  # there is something to ask, though it may hold nothing

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
