"""One effect, from its first attempt to its result or its final failure, in virtual time."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.effects import Attempt, EffectFailed, RetryNotice, RetryPolicy, Slots, run_effect
from stepsnb.errors import ErrorCode, ProviderError
from stepsnb.llm import Reply, RequestFailed

from ..support.virtual_time import VirtualLoop, in_virtual_time

PLAIN = RetryPolicy(max_attempts=3, backoff_base_s=2, backoff_max_s=8)


def now():
    return asyncio.get_running_loop().time()


def clocks(*, attempts=1, base=2, longest=8, **bounds):
    return RetryPolicy(max_attempts=attempts, backoff_base_s=base, backoff_max_s=longest, **bounds)


class Work:
    """Does what it is told, one thing for each attempt, and keeps what it was given and when."""

    def __init__(self, *does):
        self._does = list(does)
        self.attempts: list[Attempt] = []
        self.started: list[float] = []

    async def __call__(self, attempt):
        self.attempts.append(attempt)
        self.started.append(now())
        does = self._does.pop(0)
        if isinstance(does, BaseException):
            raise does
        return await does() if callable(does) else does

    @property
    def gaps(self):
        return [later - earlier for earlier, later in zip(self.started, self.started[1:], strict=False)]


def later(seconds, result="done"):
    async def work():
        await asyncio.sleep(seconds)
        return result

    return work


def down(**more):
    return ProviderError("provider `x`: failed (503)", status=503, retryable=True, **more)


async def failure(*args, **kwargs):
    with pytest.raises(EffectFailed) as caught:
        await run_effect(*args, **kwargs)
    return caught.value


def later_then_fail(seconds):
    async def work():
        await asyncio.sleep(seconds)
        raise down()

    return work


# Attempts and waits.


@in_virtual_time
async def test_a_result_ends_it():
    work = Work("done")
    assert await run_effect(PLAIN, work) == "done"
    assert [attempt.number for attempt in work.attempts] == [1]


@in_virtual_time
async def test_a_retryable_failure_is_tried_again_after_growing_waits():
    work = Work(down(), EffectFailed("no", retryable=True), "done")
    assert await run_effect(PLAIN, work) == "done"
    assert [attempt.number for attempt in work.attempts] == [1, 2, 3]
    assert work.gaps == [2, 4]


@pytest.mark.parametrize("raised", [EffectFailed("no"), ProviderError("no", status=503)])
@in_virtual_time
async def test_what_does_not_say_that_it_is_retryable_is_not_tried_again(raised):
    work = Work(raised)
    failed = await failure(PLAIN, work)
    assert (str(failed), failed.attempts, len(work.attempts)) == ("no", 1, 1)


@given(st.integers(1, 12))
def test_n_attempts_are_n_tries_and_one_notice_less(attempts):
    @in_virtual_time
    async def run():
        work, notices = Work(*[down() for _ in range(attempts)]), []
        failed = await failure(clocks(attempts=attempts), work, on_retry=notices.append)
        assert len(work.attempts) == failed.attempts == attempts
        assert [notice.attempt for notice in notices] == list(range(2, attempts + 1))

    run()


@in_virtual_time
async def test_a_notice_comes_before_its_wait_and_says_why():
    notices = []
    await failure(clocks(attempts=2), Work(down(), down()), on_retry=lambda notice: notices.append((now(), notice)))
    assert notices == [
        (1_000, RetryNotice(2, 2, "provider `x`: failed (503)", ErrorCode.PROVIDER_ERROR, 2)),
    ]


@in_virtual_time
async def test_the_last_failure_carries_the_count_its_code_and_its_cause():
    last = ProviderError("slow down", status=429, retryable=True)
    failed = await failure(PLAIN, Work(down(), down(), last))
    assert (str(failed), failed.code, failed.attempts) == ("after 3 attempts: slow down", ErrorCode.RATE_LIMITED, 3)
    assert failed.__cause__ is last


@in_virtual_time
async def test_a_failure_that_is_final_after_others_carries_the_count_too():
    failed = await failure(PLAIN, Work(down(), ProviderError("key refused", status=401)))
    assert (str(failed), failed.code) == ("after 2 attempts: key refused", ErrorCode.REFUSED)


@in_virtual_time
async def test_anything_else_passes_as_it_is():
    work = Work(ZeroDivisionError("mine"))
    with pytest.raises(ZeroDivisionError, match="mine"):
        await run_effect(PLAIN, work, executor=Slots(1))
    assert len(work.attempts) == 1


@in_virtual_time
async def test_a_timeout_of_the_works_own_is_not_taken_for_its_clock():
    with pytest.raises(TimeoutError, match="mine"):
        await run_effect(clocks(attempts=2, run_timeout_s=5), Work(TimeoutError("mine")))


@in_virtual_time
async def test_a_request_that_had_begun_to_give_output_is_not_sent_again():
    work = Work(RequestFailed("the connection was lost", retryable=True, partial=Reply(text="half")))
    failed = await failure(PLAIN, work)
    assert len(work.attempts) == 1
    assert failed.__cause__.partial.text == "half"


# What a provider asks for.


@pytest.mark.parametrize(("asked", "waited"), [(7.5, 7.5), (1, 2), (0, 2), (60, 60)])
@in_virtual_time
async def test_retry_after_is_the_least_that_is_waited(asked, waited):
    work = Work(down(retry_after_s=asked), "done")
    await run_effect(PLAIN, work)
    assert work.gaps == [waited]


@in_virtual_time
async def test_a_longer_wait_than_a_minute_is_not_waited():
    notices = []
    failed = await failure(PLAIN, Work(down(retry_after_s=120)), on_retry=notices.append)
    assert str(failed) == "provider `x`: failed (503); asked to wait 120 s, which is longer than 60 s"
    assert (now(), notices, failed.retry_after_s) == (1_000, [], 120)


@in_virtual_time
async def test_a_longer_wait_of_our_own_names_its_setting():
    failed = await failure(clocks(attempts=2, base=90, longest=100), Work(down()))
    assert str(failed).endswith("the next attempt (`backoff_max_secs`) would wait 90 s, which is longer than 60 s")


@in_virtual_time
async def test_retry_after_on_the_last_attempt_is_not_complained_about():
    assert str(await failure(clocks(), Work(down(retry_after_s=120)))) == "provider `x`: failed (503)"


# The run clock.


@in_virtual_time
async def test_the_run_clock_cancels_the_work_and_the_next_attempt_has_its_own():
    work = Work(later(10), later(4.5))
    assert await run_effect(clocks(attempts=2, run_timeout_s=5), work) == "done"
    assert [attempt.deadline for attempt in work.attempts] == [1_005, 1_012]
    assert work.started == [1_000, 1_007]


@in_virtual_time
async def test_work_that_ran_too_long_fails_as_a_deadline():
    failed = await failure(clocks(run_timeout_s=5), Work(later(10)), where="tool `fetch`")
    assert str(failed) == ("tool `fetch`: deadline exceeded while running: no result within 5 s (`run_timeout_secs`)")
    assert (failed.code, failed.retryable, failed.__cause__) == (ErrorCode.DEADLINE_EXCEEDED, True, None)


@in_virtual_time
async def test_without_a_limit_work_may_take_days():
    work = Work(later(1e6))
    assert await run_effect(clocks(), work) == "done"
    assert work.attempts[0].deadline is None


@in_virtual_time
async def test_a_result_given_as_the_clock_runs_out_counts():
    given = asyncio.get_running_loop().create_future()

    async def work(attempt):
        asyncio.get_running_loop().call_at(attempt.deadline, given.set_result, "just in time")
        return await given

    assert await run_effect(clocks(run_timeout_s=5), work) == "just in time"


@in_virtual_time
async def test_work_that_will_not_be_cancelled_is_waited_for_and_its_result_counts():
    ended = []

    async def stubborn(attempt):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(20)
        ended.append(now())
        return attempt.number

    assert await run_effect(clocks(attempts=3, run_timeout_s=5), stubborn) == 1
    assert ended == [1_025]


@in_virtual_time
async def test_work_cleans_up_before_the_next_attempt_starts():
    order = []

    async def tidy(attempt):
        order.append(f"start {attempt.number}")
        try:
            await asyncio.sleep(10)
        finally:
            await asyncio.sleep(3)
            order.append(f"end {attempt.number}")

    await failure(clocks(attempts=2, run_timeout_s=5), tidy)
    assert order == ["start 1", "end 1", "start 2", "end 2"]


@in_virtual_time
async def test_work_is_told_whether_its_clock_ended_it():
    seen = []

    async def curious(attempt):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append(attempt.cut_off)
            raise

    await failure(clocks(run_timeout_s=5), curious)
    stopped = asyncio.create_task(run_effect(clocks(run_timeout_s=5), curious))
    await asyncio.sleep(1)
    stopped.cancel()
    await asyncio.wait([stopped])
    assert seen == ["deadline exceeded while running: no result within 5 s (`run_timeout_secs`)", None]


@in_virtual_time
async def test_work_that_was_cut_off_may_say_that_it_must_not_be_repeated():
    partial = RequestFailed("cut off", retryable=True, partial=Reply(text="half"))
    calls = []

    async def streaming(attempt):
        calls.append(attempt.number)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            raise partial from None

    failed = await failure(clocks(attempts=3, run_timeout_s=5), streaming)
    assert (calls, failed.code, failed.__cause__) == ([1], ErrorCode.DEADLINE_EXCEEDED, partial)
    assert "while running" in str(failed)


# The total clock.


@in_virtual_time
async def test_the_total_clock_is_never_started_again_and_is_final():
    work = Work(later_then_fail(4), later(100))
    failed = await failure(clocks(attempts=9, run_timeout_s=50, total_timeout_s=10), work)
    assert now() == 1_010
    assert [attempt.deadline for attempt in work.attempts] == [1_010, 1_010]
    assert str(failed) == ("after 2 attempts: deadline exceeded: the total of 10 s (`total_timeout_secs`) is used up")
    assert (failed.code, failed.retryable) == (ErrorCode.DEADLINE_EXCEEDED, False)


@in_virtual_time
async def test_the_total_clock_is_final_when_it_ends_with_the_run_clock():
    work = Work(later(10))
    failed = await failure(clocks(attempts=3, run_timeout_s=5, total_timeout_s=5), work)
    assert (len(work.attempts), failed.retryable) == (1, False)
    assert "the total of 5 s" in str(failed)


@in_virtual_time
async def test_a_wait_that_the_total_clock_would_end_is_not_waited():
    notices = []
    policy = clocks(attempts=3, total_timeout_s=5)
    failed = await failure(policy, Work(down(retry_after_s=5)), on_retry=notices.append, where="model `m`")
    assert str(failed) == (
        "model `m`: deadline exceeded: the total of 5 s (`total_timeout_secs`) ends before another attempt, "
        "5 s from now; the last one: provider `x`: failed (503)"
    )
    assert (now(), notices, failed.code, failed.retryable) == (1_000, [], ErrorCode.DEADLINE_EXCEEDED, False)


@in_virtual_time
async def test_a_wait_just_within_the_total_is_waited():
    work = Work(down(retry_after_s=4.5), "done")
    assert await run_effect(clocks(attempts=2, total_timeout_s=5), work) == "done"


@in_virtual_time
async def test_a_wait_that_took_longer_than_asked_starts_nothing_after_the_total():
    async def oversleep(seconds):
        await asyncio.sleep(100)

    work = Work(down(), "too late")
    failed = await failure(clocks(attempts=2, total_timeout_s=5), work, sleep=oversleep)
    assert (len(work.attempts), failed.attempts, failed.retryable) == (1, 2, False)


# The queue clock.


async def taken(room=1, until=None):
    """Make slots that are all taken, until a moment if one is given."""
    slots = Slots(room)
    for _ in range(room):
        await slots.acquire()
    if until is not None:
        for _ in range(room):
            asyncio.get_running_loop().call_at(until, slots.release)
    return slots


@in_virtual_time
async def test_a_call_that_waits_too_long_is_never_started():
    work = Work("never")
    failed = await failure(clocks(queue_timeout_s=60), work, executor=await taken(until=1_100))
    assert (work.attempts, now()) == ([], 1_060)
    assert str(failed) == "deadline exceeded while queued: not started within 60 s (`queue_timeout_secs`)"
    assert (failed.code, failed.retryable) == (ErrorCode.DEADLINE_EXCEEDED, True)


@in_virtual_time
async def test_a_call_dropped_from_the_queue_is_handed_in_again():
    work = Work("done")
    assert await run_effect(clocks(attempts=2, queue_timeout_s=60), work, executor=await taken(until=1_100)) == "done"
    assert (work.attempts[0].number, work.started) == (2, [1_100])


@in_virtual_time
async def test_the_run_clock_starts_when_the_executor_starts_the_work():
    work = Work(later(4))
    policy = clocks(queue_timeout_s=60, run_timeout_s=5)
    assert await run_effect(policy, work, executor=await taken(until=1_050)) == "done"
    assert work.attempts[0].deadline == 1_055


@in_virtual_time
async def test_the_total_clock_covers_the_queue():
    work = Work("never")
    failed = await failure(clocks(attempts=3, total_timeout_s=10), work, executor=await taken())
    assert (work.attempts, now(), failed.retryable) == ([], 1_010, False)
    assert "the total of 10 s" in str(failed)


@in_virtual_time
async def test_the_queue_clock_starts_when_the_call_was_handed_in():
    slots, work = await taken(until=1_100), Work("never")
    await asyncio.sleep(50)
    await failure(clocks(queue_timeout_s=60), work, executor=slots, handed_in_at=1_000)
    assert (work.attempts, now()) == ([], 1_060)


@in_virtual_time
async def test_a_call_handed_in_too_long_ago_is_dropped_even_where_there_is_room():
    slots, work = Slots(1), Work("never")
    failed = await failure(clocks(queue_timeout_s=60), work, executor=slots, handed_in_at=now() - 61)
    assert "while queued" in str(failed)
    assert await run_effect(clocks(queue_timeout_s=1), Work("the room is free"), executor=slots)


@in_virtual_time
async def test_without_an_executor_there_is_no_queue():
    assert await run_effect(clocks(queue_timeout_s=60), Work("done"), handed_in_at=now() - 61) == "done"


@in_virtual_time
async def test_the_room_is_free_while_an_effect_waits_to_try_again():
    slots = Slots(1)
    first = asyncio.create_task(run_effect(PLAIN, Work(down(), "first"), executor=slots))
    await asyncio.sleep(1)
    second = Work(later(0.5, "second"))
    assert await run_effect(PLAIN, second, executor=slots) == "second"
    assert second.started == [1_001]
    assert await first == "first"


@in_virtual_time
async def test_calls_of_one_reply_share_an_executor_in_their_order():
    slots, works = Slots(2), [Work(later(10, index)) for index in range(5)]
    handed_in_at = now()
    results = await asyncio.gather(
        *(run_effect(clocks(queue_timeout_s=15), w, executor=slots, handed_in_at=handed_in_at) for w in works),
        return_exceptions=True,
    )
    assert [work.started for work in works] == [[1_000], [1_000], [1_010], [1_010], []]
    assert results[:4] == [0, 1, 2, 3]
    assert "while queued" in str(results[4])


@given(
    room=st.integers(1, 3),
    calls=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 6), st.none() | st.integers(0, 12)), max_size=10),
)
def test_no_room_is_lost_whatever_runs_out_or_is_stopped(room, calls):
    """Each call: when it comes, how long its work takes, and when it is stopped, if it is."""

    @in_virtual_time
    async def run_all():
        slots, policy = Slots(room), clocks(attempts=2, queue_timeout_s=3, run_timeout_s=4, total_timeout_s=9)

        async def one(comes, takes):
            await asyncio.sleep(comes)
            return await run_effect(policy, Work(later(takes), later(takes)), executor=slots)

        tasks = [asyncio.create_task(one(comes, takes)) for comes, takes, _ in calls]
        for task, (_, _, stop) in zip(tasks, calls, strict=True):
            if stop is not None:
                asyncio.get_running_loop().call_later(stop, task.cancel)
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert result == "done" or isinstance(result, EffectFailed | asyncio.CancelledError)
        for _ in range(room):
            await asyncio.wait_for(slots.acquire(), 1)

    run_all()


# Stopping from outside.


@pytest.mark.parametrize("after", [0, 0.5, 2.5, 4.5, 5.5])
@in_virtual_time
async def test_stopping_ends_it_at_once_wherever_it_is(after):
    """Before it starts, in the queue, at work, in a wait, at work again; nothing is left behind."""
    slots, work = await taken(until=1_002), Work(later_then_fail(2), later(100))
    task = asyncio.create_task(run_effect(clocks(attempts=2, base=1), work, executor=slots))
    await asyncio.sleep(after)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert now() == 1_000 + after


@in_virtual_time
async def test_stopping_waits_for_work_that_cleans_up_and_drops_its_result():
    ended = []

    async def stubborn(attempt):
        for _ in range(2):
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                ended.append("asked")
        ended.append("end")
        return "result"

    task = asyncio.create_task(run_effect(clocks(), stubborn))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert (task.cancelled(), ended, now()) == (True, ["asked", "asked", "end"], 1_002)


@in_virtual_time
async def test_stopping_is_not_turned_into_what_the_work_raises_on_its_way_out():
    async def loud(attempt):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            raise down() from None

    task = asyncio.create_task(run_effect(PLAIN, loud))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


@in_virtual_time
async def test_a_timeout_around_it_is_told_from_its_own():
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3):
            await run_effect(clocks(run_timeout_s=5), Work(later(10)))
    assert now() == 1_003


@in_virtual_time
async def test_an_error_of_the_retry_notice_ends_it():
    def broken(notice):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_effect(PLAIN, Work(down(), "never"), on_retry=broken)


def test_the_loop_of_these_tests_refuses_to_wait_for_ever():
    loop = VirtualLoop()
    with pytest.raises(RuntimeError, match="would never end"):
        loop.run_until_complete(loop.create_future())
    loop.close()
