"""Templates with the look of Go's, rendered by jinja2's sandbox; text outside `{{ }}` stays as it is."""

from .arguments import required_arguments, template_arguments
from .problem import TemplateProblem
from .render import check_template, render

__all__ = ["TemplateProblem", "check_template", "render", "required_arguments", "template_arguments"]
