"""A custom tool: a shell program with arguments of the model's in it."""

from collections.abc import Iterator

from pydantic import Field

from ...suggest import did_you_mean
from ...templates import TemplateProblem, check_template, template_arguments
from ..concept import Complaint
from ..scalars import Name, Text
from .call_limits import LimitedGrant
from .tool_name import wrong_name


class CustomGrant(LimitedGrant):
    """A tool that renders `run` with the arguments of a call and runs it with `sh -c` in the step's directory."""

    name: Name = Field(description="What the model calls it.")
    description: Text = Field(description="What it does; the model reads it.")
    run: Text = Field(
        description="The program, for `sh -c`; `{{ .args.NAME }}` is an argument, best piped through `shellquote`."
    )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments the model gives, in the order `run` has them."""
        return tuple(name for name in template_arguments(self.run) if name not in self.args)

    def complaints(self) -> Iterator[Complaint]:
        """Refuse a name no model could call it by, a program that is no template, and pins of arguments it has not."""
        yield from super().complaints()
        if text := wrong_name(self.name, "give it another"):
            yield Complaint(("name",), text, ("name",))
        try:
            check_template(self.run)
            known = template_arguments(self.run)
        except TemplateProblem as exc:
            yield Complaint(("run",), f"`run:` cannot be rendered: {exc}", ("run",))
            return
        for pinned in self.args:
            if pinned not in known:
                have = f"it has: {', '.join(sorted(known))}" if known else "it has none"
                text = f"`run:` has no argument `{pinned}` to pin{did_you_mean(pinned, known)}; {have}"
                yield Complaint(("args", pinned), text, ("run", "args"))
