"""The container a step's programs run in."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from .concept import Complaint, Concept
from .scalars import AnyText, AtLeast1, Bytes, Flag, Name, VariableName


class ContainerLimits(Concept):
    """What one container may use."""

    cpu: AtLeast1 | None = Field(default=None, description="CPU shares, as `docker run --cpu-shares` counts them.")
    memory_bytes: Bytes | None = Field(
        default=None, validation_alias="memory", description="Such as `512MB`; a number alone is bytes."
    )

    def complaints(self) -> Iterator[Complaint]:
        """Refuse limits that limit nothing."""
        if self.cpu is None and self.memory_bytes is None:
            text = "`container_limits:` limits nothing; give `cpu:` or `memory:`, or remove it"
            yield Complaint((), text, ("cpu", "memory"))


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """An image and how a container of it is started."""

    name: str
    network: str | None = None
    is_privileged: bool = False
    limits: ContainerLimits | None = None
    user: str | None = None


class Contained(Concept):
    """Something whose programs can run in a container."""

    image_name: Name | None = Field(
        default=None, validation_alias="image", description="Run its programs in a container of this image."
    )
    network: Name | None = Field(default=None, description="Network of the container, such as `none`.")
    privileged: Flag = Field(default=False, description="Give the container the rights of the machine.")
    container_limits: ContainerLimits | None = None
    user: Name | None = Field(default=None, description="`USER` or `USER:GROUP` inside the container.")
    env: dict[VariableName, AnyText] = Field(default_factory=dict, description="Environment of its programs.")

    @property
    def image(self) -> ImageSpec | None:
        """The container to run in; None for this machine itself."""
        if self.image_name is None:
            return None
        return ImageSpec(self.image_name, self.network, self.privileged, self.container_limits, self.user)


def image_complaints(contained: Contained) -> Iterator[Complaint]:
    """Refuse settings of a container where there is none."""
    if contained.image_name is not None:
        return
    for key in ("network", "privileged", "container_limits", "user"):
        if getattr(contained, key):
            text = f"`{key}:` is for a container and there is no `image:`; add one, or remove it"
            yield Complaint((key,), text, ("image",))
