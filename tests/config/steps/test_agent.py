"""What an agent step may say about its files, its decision and its limits."""

from stepsnb.config import load_text


def load(step, agent=""):
    text = f"agents: [{{name: w, source: {{model: a/b}}{agent}}}]\njobs:\n- name: j\n  plan:\n"
    text += "  - {task: make, run: echo, outputs: [notes, more]}\n"
    return load_text(text + f"  - {{agent: w, prompt: p, inputs: [notes, more], {step}}}\n").jobs[0].plan[1]


def test_files_of_inputs_are_read_before_the_first_message():
    step = load("context_paths: [notes/a.md, more/deep/a..b.md, ./notes/c.md], max_context_bytes: 0")

    assert step.context_paths == ("notes/a.md", "more/deep/a..b.md", "./notes/c.md")
    assert step.max_context_bytes == 0


def test_files_may_be_in_an_input_that_is_changed_in_place():
    assert load("outputs: [notes], context_paths: [notes/a.md]").context_paths == ("notes/a.md",)


def test_asserted_verdict_is_one_of_the_steps_own():
    step = load("verdicts: [approve, reject], assert: {verdict: reject}")

    assert (step.verdicts, step.assert_.verdict) == (("approve", "reject"), "reject")


def test_a_single_verdict_is_one_too():
    assert load("verdicts: [done]").verdicts == ("done",)


def test_nudge_stands_beside_files_in_a_step_that_decides():
    step = load("verdicts: [done], outputs: [report], assert: {files: [report/a], nudge: true}")

    assert step.assert_.nudge


def test_a_step_has_what_is_not_said_unset():
    step = load("max_turns: 3")

    assert (step.verdicts, step.context, step.context_paths, step.output) == (None, None, (), None)
    assert (step.attempts, step.max_context_bytes) == (None, None)
