"""A resource type of the user's own: the programs, or tools of a server, that find, fetch and publish versions."""

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from . import unsupported
from .concept import Complaint, Concept
from .free import FreeMapping
from .image import Contained, image_complaints
from .resource_tools import ResourceTools, template_complaints
from .scalars import Name, Text
from .unsupported import Unsupported

PROGRAMS = ("check", "in", "out")
_OF_PROGRAMS = ("image", "network", "privileged", "container_limits", "user", "env")


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
            yield from template_complaints(getattr(self, f"own_{key}") or "", (key,), key)


class ResourceType(ResourcePrograms, Contained):
    """One entry of `resource_types:`: programs in it or under `config:`, or tools of a server under `mcp:`."""

    unsupported_keys: ClassVar[Unsupported] = unsupported.RESOURCE_TYPE
    misplaced_keys: ClassVar[dict[str, str]] = {
        "source": "is for entries of `resources:`; values for all of them stand under `defaults:`",
    }

    name: Name
    defaults: FreeMapping = Field(default={}, description="`source:` values of resources that do not set them.")
    config: ResourcePrograms | None = None
    mcp: ResourceTools | None = Field(default=None, description="Tools of an MCP server, in place of programs.")

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

    @property
    def verbs(self) -> frozenset[str]:
        """What it can do, out of `check`, `in` and `out`."""
        of = self if self.mcp is None else self.mcp
        return frozenset(verb for verb, way in zip(PROGRAMS, (of.check, of.in_, of.out), strict=True) if way)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a type that can do nothing, or in two ways, and a program that is there twice."""
        yield from super().complaints()
        yield from image_complaints(self) if self.mcp is None else self._beside_tools()
        if not self.verbs:
            text = "can do nothing; give `check:` and `in:` to get it, `out:` to put it"
            yield Complaint((), text, ("config", "mcp", *PROGRAMS))
        for key in PROGRAMS:
            if self.config and getattr(self, f"own_{key}") and getattr(self.config, f"own_{key}"):
                text = f"has `{key}:` here and under `config:`; keep one"
                yield Complaint((key,), text, ("config", key))

    def _beside_tools(self) -> Iterator[Complaint]:
        """Refuse what belongs to programs, where there are tools."""
        if self.check or self.in_ or self.out:
            text = "has programs and `mcp:`; a type is made of programs or of tools, so remove one of them"
            yield Complaint(("mcp",), text, ("config", "mcp", *PROGRAMS))
        for key in _OF_PROGRAMS:
            if getattr(self, "image_name" if key == "image" else key):
                yield Complaint((key,), f"`{key}:` is for programs, and this type calls tools; remove it", (key, "mcp"))
