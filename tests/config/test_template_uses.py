"""What templates refer to."""

import pytest

from stepsnb.config.template_uses import template_uses, vars_in


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("plain {", []),
        ("{{ .vars.a }} {{ .source.b.c | upper }}", [("vars", "a"), ("source", "b", "c")]),
        ('{{ index .vars "a" "b" | default .params.c }}', [("params", "c"), ("vars", "a")]),
        ('{{ index .vars "a" .vars.k }}', [("vars", "a"), ("vars", "k")]),
        (
            "{{ if .vars.a }}{{ .vars.b }}{{ else }}{{ $.vars.c }}{{ end }}",
            [("vars", "a"), ("vars", "b"), ("vars", "c")],
        ),
        (
            "{{ range .vars.l }}{{ .name }}{{ $.vars.d }}{{ else }}{{ .vars.e }}{{ end }}",
            [("vars", "l"), ("vars", "d"), ("vars", "e")],
        ),
        ('{{ . }} {{ $ }} {{ "text" }}', []),
    ],
)
def test_references_are_found_from_the_top(text, uses):
    assert list(template_uses(text)) == uses


def test_axes_are_found_in_what_is_a_template():
    assert vars_in("{{ .vars.a }} and {{ .vars }}") == ("a",)
    assert vars_in("{{ .vars.a and {{ .vars.b }}") == ()
    assert vars_in("no .vars.a here") == ()
