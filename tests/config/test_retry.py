"""What agents change of the retry policy."""

from stepsnb.config import RetryOverride


def test_layers_name_only_what_they_change(load_agent):
    agent, _ = load_agent(
        "retry:\n  default: {max_attempts: 3, backoff_max_secs: 0}\n"
        "  tool: {run_timeout_secs: 0.5, queue_timeout_secs: 60, total_timeout_secs: 1e8}\n  connector: {}"
    )

    assert agent.retry.default == RetryOverride(max_attempts=3, backoff_max_secs=0.0)
    assert agent.retry.default.model_fields_set == {"max_attempts", "backoff_max_secs"}
    assert agent.retry.tool == RetryOverride(run_timeout_secs=0.5, queue_timeout_secs=60.0, total_timeout_secs=1e8)
    assert (agent.retry.llm, agent.retry.subagent, agent.retry.connector) == (None, None, RetryOverride())


def test_attempts_stand_beside_other_layers_and_fields(load_agent):
    agent, step = load_agent(
        "attempts: 5\nretry: {default: {max_attempts: 2}, llm: {backoff_base_secs: 1}}", "prompt: Go.\nattempts: 1"
    )

    assert (agent.attempts, step.attempts) == (5, 1)
    assert (agent.retry.default.max_attempts, agent.retry.llm.backoff_base_secs) == (2, 1.0)


def test_zero_switches_compaction_and_the_bound_of_files_off(load_agent):
    agent, _ = load_agent("compact_after_tokens: 0\nmax_context_bytes: 0")

    assert (agent.compact_after_tokens, agent.max_context_bytes) == (0, 0)
