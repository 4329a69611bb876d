"""The policy of each kind of effect, and how an agent and a call change it."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.effects import DEFAULTS, RetryPolicy, agent_layers, attempts_layer, policy_for, retry_key
from stepsnb.errors import InputError

TIMEOUTS = ("queue_timeout_secs", "run_timeout_secs", "total_timeout_secs")
FIELDS = (*TIMEOUTS, "max_attempts", "backoff_base_secs", "backoff_max_secs")

seconds = st.floats(0.001, 1e9)
layers = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.none() | seconds for name in (*TIMEOUTS, "backoff_base_secs", "backoff_max_secs")},
        "max_attempts": st.none() | st.integers(1, 100),
    },
)
kinds = st.sampled_from(sorted(DEFAULTS))


def written(policy):
    return {name: getattr(policy, name.replace("_secs", "_s")) for name in FIELDS}


def fields(**said):
    return SimpleNamespace(**dict.fromkeys(FIELDS) | said)


@pytest.mark.parametrize(
    ("kind", "clocks", "attempts", "waits"),
    [
        ("llm", (60, 540, 1800), 3, (2, 8)),
        ("tool", (None, 120, 600), 1, (2, 30)),
        ("waiting", (None, None, None), 1, (2, 30)),
        ("connector_call", (60, 60, 600), 2, (1, 10)),
        ("subagent", (30, 10, 3600), 3, (2, 15)),
        ("connector", (10, 5, 30), 2, (2, 10)),
    ],
)
def test_every_kind_has_its_default(kind, clocks, attempts, waits):
    policy = policy_for(kind)
    assert (policy.queue_timeout_s, policy.run_timeout_s, policy.total_timeout_s) == clocks
    assert policy.max_attempts == attempts
    assert (policy.backoff_base_s, policy.backoff_max_s) == waits


def test_there_is_a_default_for_every_kind_and_no_other():
    assert set(DEFAULTS) == {"llm", "tool", "waiting", "connector_call", "subagent", "connector"}


def test_an_override_of_attempts_keeps_the_timeouts():
    policy = policy_for("tool", {"max_attempts": 3})
    assert (policy.max_attempts, policy.run_timeout_s, policy.total_timeout_s) == (3, 120, 600)


def test_layers_stack_with_the_call_last():
    policy = policy_for(
        "tool",
        {"max_attempts": 3, "backoff_max_secs": 30, "total_timeout_secs": 900},
        {"max_attempts": 1},
        {"run_timeout_secs": 30, "max_attempts": 2},
    )
    assert policy == RetryPolicy(
        run_timeout_s=30, total_timeout_s=900, max_attempts=2, backoff_base_s=2, backoff_max_s=30
    )


def test_a_layer_may_have_its_fields_as_attributes():
    assert policy_for("llm", fields(run_timeout_secs=30.0)).run_timeout_s == 30


@pytest.mark.parametrize("kind", sorted(DEFAULTS))
def test_none_in_an_override_removes_no_timeout(kind):
    nothing = dict.fromkeys(FIELDS)
    assert policy_for(kind, nothing, fields()) == DEFAULTS[kind]


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
@pytest.mark.parametrize("name", TIMEOUTS)
def test_a_timeout_that_is_no_bound_is_refused(name, value):
    with pytest.raises(InputError, match=rf"`{name}: .*` is no bound, and no override can remove one; .* large number"):
        policy_for("llm", {name: value})


def test_a_very_long_timeout_is_not_refused():
    assert policy_for("llm", {"run_timeout_secs": 1e9}).run_timeout_s == 1e9


def test_a_kind_without_limit_may_be_given_one():
    policy = policy_for("waiting", {"total_timeout_secs": 86_400})
    assert (policy.queue_timeout_s, policy.run_timeout_s, policy.total_timeout_s) == (None, None, 86_400)


def test_no_attempt_at_all_is_refused():
    with pytest.raises(InputError, match="`max_attempts: 0` never tries; give 1 or more"):
        policy_for("llm", attempts_layer(0))


def test_a_negative_wait_is_refused():
    with pytest.raises(InputError, match="`backoff_max_secs: -1` is no wait"):
        policy_for("llm", {"backoff_max_secs": -1})


def test_an_unknown_key_of_a_layer_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"retry: unknown key `max_attempt` \(did you mean `max_attempts`\?\)"):
        policy_for("llm", {"max_attempt": 2})


def test_attempts_is_short_for_max_attempts_and_changes_nothing_else():
    assert policy_for("llm", attempts_layer(1)) == policy_for("llm", {"max_attempts": 1})
    assert policy_for("llm", attempts_layer(None)) == DEFAULTS["llm"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("llm", "llm"),
        ("tool", "tool"),
        ("waiting", "tool"),
        ("connector_call", "tool"),
        ("subagent", "subagent"),
        ("connector", "connector"),
    ],
)
def test_tool_covers_every_call_of_a_tool_and_connector_only_the_list(kind, key):
    retry = SimpleNamespace(default=fields(max_attempts=50), llm=None, tool=None, subagent=None, connector=None)
    setattr(retry, key, fields(max_attempts=7))
    assert retry_key(kind) == key
    assert policy_for(kind, *agent_layers(kind, retry)).max_attempts == 7
    setattr(retry, key, None)
    assert policy_for(kind, *agent_layers(kind, retry)).max_attempts == 50


def test_an_agent_without_retry_changes_nothing():
    assert policy_for("subagent", *agent_layers("subagent", None)) == DEFAULTS["subagent"]


def test_the_waits_are_powers_up_to_the_longest():
    policy = RetryPolicy(backoff_base_s=2, backoff_max_s=30)
    assert [policy.wait_before(retry) for retry in range(1, 7)] == [2, 4, 8, 16, 30, 30]


@given(kinds, st.lists(layers, max_size=4))
def test_each_field_is_that_of_the_last_layer_that_says_it(kind, stack):
    policy = policy_for(kind, *stack)
    for name, value in written(policy).items():
        said = [layer[name] for layer in stack if layer.get(name) is not None]
        assert value == (said[-1] if said else written(DEFAULTS[kind])[name])


@given(kinds, st.lists(layers, max_size=4))
def test_no_stack_of_layers_removes_a_timeout(kind, stack):
    after = written(policy_for(kind, *stack))
    assert all(after[name] is not None for name in TIMEOUTS if written(DEFAULTS[kind])[name] is not None)


@given(st.floats(1, 1e9), st.floats(0, 1e9), st.integers(1, 10_000))
def test_a_wait_never_shrinks_nor_passes_the_longest(base, longest, retry):
    policy = RetryPolicy(backoff_base_s=base, backoff_max_s=longest)
    assert 0 <= policy.wait_before(retry) <= policy.wait_before(retry + 1) <= longest
