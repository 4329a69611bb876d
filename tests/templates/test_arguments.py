import pytest

from stepsnb.templates import TemplateProblem, required_arguments, template_arguments


@pytest.mark.parametrize(
    ("text", "names", "required"),
    [
        ("echo hi", (), ()),
        ("{{ .args.b }} {{ .args.a }} {{ .args.b }}", ("b", "a"), ("b", "a")),
        ('{{ index .args "a" }} {{ .args.b | shellquote }}', ("a", "b"), ("b",)),
        ('{{ index .args "a" | default "x" }} {{ .args.b | default .args.c }}', ("a", "c", "b"), ("c",)),
        ('{{ .args.a | default "x" }} {{ .args.a }}', ("a",), ("a",)),
        ('{{ .args.a | upper | default "x" }}', ("a",), ("a",)),
        ("{{ if .args.a }}{{ .args.b }}{{ else }}{{ $.args.c }}{{ end }}", ("a", "b", "c"), ("a", "b", "c")),
        (
            '{{ range split "," .args.a }}{{ .args.b }}{{ $.args.c }}{{ else }}{{ .args.d }}{{ end }}',
            ("a", "c", "d"),
            ("a", "c", "d"),
        ),
        ('{{ .source.args.a }} {{ .params.b }} .args.c {{ ".args.d" }}', (), ()),
        ("{{ .args | toJson }}", (), ()),
        ("{{ .args.a.b }}", ("a",), ("a",)),
    ],
)
def test_references_are_found(text: str, names: tuple[str, ...], required: tuple[str, ...]) -> None:
    assert (template_arguments(text), required_arguments(text)) == (names, required)


def test_text_that_is_no_template_is_told() -> None:
    with pytest.raises(TemplateProblem):
        template_arguments("{{ .args.a")
