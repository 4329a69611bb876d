"""A resource type of the user's own: the programs that find, fetch and publish versions."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from ..suggest import did_you_mean
from ..templates import TemplateProblem
from . import unsupported
from .concept import Complaint, Concept
from .free import FreeMapping
from .image import Contained, image_complaints
from .scalars import Name, Text
from .template_uses import template_uses
from .unsupported import Unsupported

PROGRAMS = ("check", "in", "out")
_VALUES = ("params", "source", "vars", "version")


class ResourcePrograms(Concept):
    """The programs of a type: templates over `.source`, `.version` and `.params`, run with `sh -c`."""

    own_check: Text | None = Field(
        default=None, validation_alias="check", description="Prints a JSON array of versions, the oldest first."
    )
    own_in: Text | None = Field(default=None, validation_alias="in", description="Fills the current directory.")
    own_out: Text | None = Field(
        default=None, validation_alias="out", description="Publishes, and may print one version."
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse programs that are no templates."""
        for key in PROGRAMS:
            try:
                uses = [use[0] for use in template_uses(getattr(self, f"own_{key}") or "")]
            except TemplateProblem as exc:
                yield Complaint((key,), f"`{key}:` cannot be rendered: {exc}", (key,))
                continue
            for name in dict.fromkeys(uses):
                if name not in _VALUES:
                    text = f"`{key}:` refers to `.{name}`{did_you_mean(name, _VALUES)}; there is: {', '.join(_VALUES)}"
                    yield Complaint((key,), text, (key,))


class ResourceType(ResourcePrograms, Contained):
    """One entry of `resource_types:`; its programs stand in it or under `config:`."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.RESOURCE_TYPE
    misplaced_keys: ClassVar[dict[str, str]] = {
        "source": "is for entries of `resources:`; values for all of them stand under `defaults:`",
    }

    name: Name
    defaults: FreeMapping = Field(default={}, description="`source:` values of resources that do not set them.")
    config: ResourcePrograms | None = None

    @property
    def check(self) -> str | None:
        """The program that prints the versions there are."""
        return self.own_check or (self.config.own_check if self.config else None)

    @property
    def in_(self) -> str | None:
        """The program that fetches a version."""
        return self.own_in or (self.config.own_in if self.config else None)

    @property
    def out(self) -> str | None:
        """The program that publishes."""
        return self.own_out or (self.config.own_out if self.config else None)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a type that can do nothing, and a program that is there twice."""
        yield from super().complaints()
        yield from image_complaints(self)
        if not (self.check or self.in_ or self.out):
            text = "can do nothing; give `check:` and `in:` to get it, `out:` to put it"
            yield Complaint((), text, ("config", "mcp", *PROGRAMS))
        for key in PROGRAMS:
            if self.config and getattr(self, f"own_{key}") and getattr(self.config, f"own_{key}"):
                text = f"has `{key}:` here and under `config:`; keep one"
                yield Complaint((key,), text, ("config", key))
