import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsnb.templates import TemplateProblem, check_template, render

ARGS: dict[str, Any] = {"args": {"city": "Oslo", "days": 3, "list": ["a", "b"], "map": {"k": "v"}, "none": None}}


def problem(text: str, values: dict[str, Any] | None = None) -> str:
    with pytest.raises(TemplateProblem) as caught:
        render(text, ARGS if values is None else values)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("hi {{ .args.city }}!", "hi Oslo!"),
        ("{{.args.city}}{{ .args.days }}", "Oslo3"),
        ("{{ $.args.map.k }}", "v"),
        ('{{ index .args "city" }}', "Oslo"),
        ('{{ index .args "map" "k" }}', "v"),
        ("{{ index .args.list 1 }}", "b"),
        ('{{ index .args "nope" | default "y" }}', "y"),
        ('{{ .args.nope | default "y" }}', "y"),
        ('{{ .args.city | default "y" }}', "Oslo"),
        ('{{ .nope.deep | default "y" }}', "y"),
        ('{{ default "y" .args.none }}', "y"),
        ("[{{ .args.none }}]", "[]"),
        ("{{ .args.city | upper | lower | quote }}", '"oslo"'),
        ('{{ "  a  " | trim }}', "a"),
        ('{{ .args.city | replace "s" "ß" }}', "Oßlo"),
        ('{{ .args.list | join ", " }}', "a, b"),
        ('{{ "a,b,c" | split "," | join "+" }}', "a+b+c"),
        ("{{ .args.map | toJson }}", '{"k": "v"}'),
        ('{{ index (fromJson "{\\"n\\": 2}") "n" }}', "2"),
        ("{{ .args.city | trunc 2 }}{{ .args.city | trunc -1 }}", "Oso"),
        ('{{ "a\\nb" | indent 2 }}', "  a\n  b"),
        ("{{ `raw \\n` }}", "raw \\n"),
        ("{{ true }} {{ 1.5 }} {{ -2 }}", "true 1.5 -2"),
        ("{{ if .args.none }}a{{ else if .args.city }}b{{ else }}c{{ end }}", "b"),
        ("{{ if .args.none }}a{{ end }}", ""),
        ('{{ if eq .args.city "Oslo" }}same{{ end }}{{ if ne .args.days 3 }}no{{ end }}', "same"),
        ('{{ if and .args.city (not .args.none) }}x{{ end }}{{ or .args.none "y" }}', "xy"),
        ("{{ range .args.list }}<{{ . }}{{ $.args.city }}>{{ end }}", "<aOslo><bOslo>"),
        ("{{ range .args.none }}a{{ else }}empty{{ end }}", "empty"),
        ("{{ range .args.map }}{{ . }}{{ end }}{{ .args.city }}", "vOslo"),
        ("a  {{- .args.city -}}  b", "aOslob"),
        ("a{{/* not this: }} or {{ */}}b", "ab"),
        ('{{ "{{" }} {{ "a}}b" }}', "{{ a}}b"),
        ('{{ "\\u00e6\\t" }}', "æ\t"),
    ],
)
def test_template_renders_with_the_look_of_go(text: str, rendered: str) -> None:
    assert render(text, ARGS) == rendered


@pytest.mark.parametrize("text", ["{% for x in y %}", "{# note #}", "${#a[@]} 100%} \\{ { ", "# line\n\r\n", "}}"])
def test_text_around_is_as_it_was_written(text: str) -> None:
    assert render(f"{text}{{{{ .args.city }}}}{text}", ARGS) == f"{text}Oslo{text}"


@given(st.text().filter(lambda text: "{{" not in text))
def test_text_without_braces_renders_to_itself(text: str) -> None:
    assert render(text, {}) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
@settings(max_examples=60, deadline=None)
def test_any_text_arrives_unchanged_through_shellquote_and_sh(value: str) -> None:
    script = render("printf %s {{ .args.value | shellquote }}", {"args": {"value": value}})
    assert subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout.decode() == value


@given(st.text())
def test_value_is_never_rendered_itself(value: str) -> None:
    hostile = f"{{{{ .args.secret }}}}{{% raw %}}{value}"
    assert render("{{ .args.x }}", {"args": {"x": hostile, "secret": "S"}}) == hostile


@given(st.text(alphabet='{}.|"`()$ aifendrgx%#\n\\-/*', max_size=40))
def test_any_template_renders_or_is_told_where_it_is_wrong(text: str) -> None:
    told = None
    try:
        render(text, {"a": "x"})
    except TemplateProblem as exc:
        told = exc
    if told is not None:
        assert 0 <= told.offset <= len(text)
        assert str(told) == f"line {told.line}, column {told.column}: {told.reason}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ .args.citi }}", "line 1, column 4: there is no `.args.citi` (did you mean `city`?); `.args` has: city, "),
        ("a\n {{ .arg.x }}", "line 2, column 5: there is no `.arg` (did you mean `args`?); there is: args"),
        ("{{ .args.city.x }}", "line 1, column 4: `.args.city` is a text and has no `.x`"),
        ("{{ if .args.gone }}x{{ end }}", "line 1, column 7: there is no `.args.gone` (did you mean `none`?)"),
        ("{{ .args.map }}", "line 1, column 4: a mapping is no text; make it text with `join` or `toJson`"),
        ("{{ .args.list | upper }}", "line 1, column 17: a list is no text; make it text with `join` or `toJson`"),
        ("{{ range .args.city }}{{ end }}", "line 1, column 10: a text is no list; make one of it with `split`"),
        ("{{ .args.city | fromJson }}", "line 1, column 17: `fromJson` was given what is no JSON: "),
        ('{{ "a\\u0000" | shellquote }}', "line 1, column 16: `shellquote` was given a NUL character"),
        ("{{ index .args.list 5 }}", "line 1, column 4: `index` 5 is not in a list of 2"),
        ('{{ index .args.city "a" }}', 'line 1, column 4: `index` cannot look "a" up in a text'),
        ('{{ .args.city | trunc "2" }}', "line 1, column 17: `trunc` needs a whole number first, as in `trunc 4`"),
        ("{{ .args.city.__class__ }}", "line 1, column 4: `.args.city` is a text and has no `.__class__`"),
        ("{{ .args.items }}", "line 1, column 4: there is no `.args.items`; `.args` has: city, "),
    ],
)
def test_value_that_does_not_fit_is_told_with_its_place(text: str, message: str) -> None:
    assert problem(text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ uper .args.x }}", "line 1, column 4: unknown function `uper` (did you mean `upper`?); available: and, "),
        ("x {{ .args.x", 'line 1, column 3: this `{{` has no `}}`; to write it as text, use `{{ "{{" }}`'),
        ("{{ .Names@x }}", "line 1, column 10: `@` means nothing inside `{{ }}`; to write `{{` as text, use"),
        ("{{ }}", "line 1, column 1: `{{ }}` is empty; write a value, such as `{{ .args.name }}`"),
        ('{{ "a }}', "line 1, column 4: a string is not closed"),
        ('{{ "a\\q" }}', "line 1, column 4: a string has an escape that is none; use "),
        ("{{ if .a }}x", "line 1, column 1: this `if` has no `{{ end }}`"),
        ("{{ if .a }}x{{ else }}y", "line 1, column 1: this `if` has no `{{ end }}`"),
        ("{{ if }}{{ end }}", "line 1, column 1: `if` needs a value, as in `if .args.name`"),
        ("{{ end }}", "line 1, column 1: `end` belongs to no `if` or `range`"),
        ("{{ else }}", "line 1, column 1: `else` belongs to no `if` or `range`"),
        ("{{ if .a }}{{ else }}{{ else }}{{ end }}", "line 1, column 22: a second `else`; an `if` or `range` has one"),
        ("{{ range .a }}{{ else if .b }}{{ end }}", "line 1, column 23: nothing may follow `else` here"),
        ("{{ if .a }}{{ end .b }}", "line 1, column 19: nothing may follow `end` here"),
        ("{{ .a .b }}", "line 1, column 7: only functions take values; separate what follows with `|`"),
        ("{{ .a | }}", "line 1, column 7: a `|` hands a value to a function, and none follows"),
        ("{{ .a | .b }}", "line 1, column 7: a `|` hands a value to a function, and none follows"),
        ("{{ upper lower .a }}", "line 1, column 10: `lower` is no value; a function's result as a value stands in"),
        ("{{ (upper .a }}", "line 1, column 4: this `(` is not closed"),
        ("{{ upper .a) }}", "line 1, column 12: `)` is not expected here"),
        ("{{ replace .a }}", "line 1, column 4: `replace` takes 3 values, not 1"),
        ("{{ index .a }}", "line 1, column 4: `index` takes 2 or more values, not 1"),
        ("{{ .a | shellquote .b }}", "line 1, column 9: `shellquote` takes 1 value, not 2"),
    ],
)
def test_text_that_is_no_template_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(TemplateProblem) as caught:
        check_template(text)
    assert str(caught.value).startswith(message)


def test_missing_key_is_no_trouble_in_a_branch_that_is_not_taken() -> None:
    assert render("{{ if .args.none }}{{ .args.gone }}{{ end }}", ARGS) == ""


def test_check_needs_no_values() -> None:
    check_template("{{ .source.uri | shellquote }}")


def nested(count: int, opening: str, inside: str, closing: str) -> str:
    return opening * count + inside + closing * count


def test_deep_templates_render() -> None:
    assert render(nested(16, "{{ if $.a }}", "x", "{{ end }}"), {"a": 1}) == "x"
    assert render(nested(16, "{{ range $.l }}", "x", "{{ end }}"), {"l": [1]}) == "x"
    assert render(nested(16, "{{ if $.n }}{{ else }}", "x", "{{ end }}"), {"n": 0}) == "x"
    assert render(f"{{{{ {nested(30, '(', '.a', ')')} }}}}", {"a": "x"}) == "x"
    assert render(f"{{{{ .a {'| upper ' * 60} }}}}", {"a": "x"}) == "X"
    chain = "".join(f"{{{{ else if eq .a {number} }}}}{number}" for number in range(200))
    assert render(f"{{{{ if eq .a -1 }}}}{chain}{{{{ else }}}}none{{{{ end }}}}", {"a": 150}) == "150"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nested(17, "{{ if .a }}", "x", "{{ end }}"), "more than 16 `if` and `range` inside each other"),
        (nested(9_000, "{{ if .a }}{{ else }}", "x", "{{ end }}"), "more than 16 `if` and `range` inside each other"),
        (f"{{{{ {nested(9_000, '(', '.a', ')')} }}}}", "more than 60 functions and brackets around one value"),
        (f"{{{{ .a {'| upper ' * 61} }}}}", "more than 60 functions and brackets around one value"),
        ("{{ if .a }}" + "{{ else if .b }}" * 9_000 + "{{ end }}", "an `if` has hundreds of `else if`"),
    ],
    ids=["blocks", "elses", "brackets", "functions", "else ifs"],
)
def test_template_too_deep_to_render_is_told(text: str, message: str) -> None:
    with pytest.raises(TemplateProblem, match=message):
        check_template(text)
