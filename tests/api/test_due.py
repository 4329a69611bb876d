"""When `stepsnb watch` checks which resource."""

from stepsnb import load
from stepsnb.api.due import CheckTimes

PIPELINE = """
resources:
- {name: often, type: path, source: {path: a}, check_every: 10s}
- {name: rarely, type: path, source: {path: b}, check_every: 1h30m}
- {name: never, type: path, source: {path: c}, check_every: never}
- {name: plain, type: path, source: {path: d}}
jobs:
- name: build
  plan: [{task: t, run: echo}]
"""
NAMES = ("often", "rarely", "never", "plain")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def times(clock):
    return CheckTimes(load(PIPELINE).pipeline, 60.0, clock)


def test_first_look_checks_all_but_those_that_say_never():
    found = times(Clock())

    assert [name for name in NAMES if found.take_due(name)] == ["often", "rarely", "plain"]


def test_each_resource_is_checked_again_after_its_own_time_or_the_interval():
    clock = Clock()
    found = times(clock)
    looks = []
    for clock.now in (100.0, 109.0, 110.0, 160.0, 5500.0):
        looks.append([name for name in NAMES if found.take_due(name)])

    assert looks == [["often", "rarely", "plain"], [], ["often"], ["often", "plain"], ["often", "rarely", "plain"]]


def test_pause_lasts_until_the_next_check():
    clock = Clock()
    found = times(clock)
    assert found.pause_s is None
    for name in NAMES:
        found.take_due(name)
    clock.now = 104.0

    assert found.pause_s == 6.0
