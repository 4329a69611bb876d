"""Typed outputs of agent steps."""

from stepsnb.config import AgentStep, OutputSpec


def test_schema_has_the_values_yaml_gives_it(load_agent):
    _, step = load_agent(
        step="prompt: Go.\noutput:\n  type: object\n  additionalProperties: false\n  properties:\n"
        "    pages: {type: integer, minimum: 0x10, maximum: 2.5e3, default: null}\n"
        '    answer: {enum: [yes, "true", true, 010, .inf, 12:30]}\n'
    )

    assert step.output.python is None
    assert step.output.schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "pages": {"type": "integer", "minimum": 16, "maximum": 2500.0, "default": None},
            "answer": {"enum": ["yes", "true", True, 10, ".inf", "12:30"]},
        },
    }


def test_a_pydantic_model_is_named(load_agent):
    _, step = load_agent(step="prompt: Go.\noutput: {python: 'reports:Report'}\nverdicts: [done]")

    assert step.output == OutputSpec(python="reports:Report")
    assert step.verdicts == ("done",)


def test_long_values_are_cut_in_messages(problems):
    text = (
        "agents: [{name: w, source: {model: a/b}}]\n"
        "jobs: [{name: j, plan: [{agent: w, prompt: p, output: {type: object, required: " + "x" * 1000 + "}}]}]\n"
    )
    [line] = problems(text)

    assert "is no valid JSON Schema: 'xxx" in line
    assert len(line) < 400


def test_a_step_built_in_code_takes_an_output_as_it_is():
    output = OutputSpec(schema={"type": "object"})

    assert AgentStep(agent="w", prompt="p", output=output).output == output
