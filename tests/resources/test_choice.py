from hypothesis import given
from hypothesis import strategies as st

from stepsnb.resources import KnownVersion, Wanted, choose_version, choose_versions, has_new_version


def known(*names: str) -> list[KnownVersion]:
    return [KnownVersion(version={"n": name}, check_order=order) for order, name in enumerate(names, start=1)]


def v(name: str) -> dict[str, str]:
    return {"n": name}


def test_latest_is_the_newest_whatever_was_used() -> None:
    assert choose_version("latest", known("1", "2", "3"), last_used=v("1")) == v("3")


def test_order_is_that_of_the_checks_not_of_the_list() -> None:
    assert choose_version("latest", list(reversed(known("1", "2", "3")))) == v("3")


def test_nothing_known_is_nothing_to_run_with() -> None:
    assert choose_version("latest", []) is None
    assert choose_version("every", []) is None


def test_every_begins_with_the_newest() -> None:
    assert choose_version("every", known("1", "2", "3")) == v("3")


def test_every_goes_on_with_the_next() -> None:
    assert choose_version("every", known("1", "2", "3"), last_used=v("1")) == v("2")


def test_every_stays_with_the_last_when_there_is_no_next() -> None:
    assert choose_version("every", known("1", "2"), last_used=v("2")) == v("2")


def test_every_begins_anew_when_what_was_used_is_no_longer_known() -> None:
    assert choose_version("every", known("2", "3"), last_used=v("1")) == v("3")


def test_published_version_is_not_chosen_before_a_check_has_seen_it() -> None:
    put = KnownVersion(version=v("put"), check_order=0, from_check=False)
    assert choose_version("latest", [put]) is None
    assert choose_version("latest", [*known("1"), put]) == v("1")


def test_published_version_can_be_pinned() -> None:
    put = KnownVersion(version={"n": "put", "by": "us"}, check_order=0, from_check=False)
    assert choose_version(v("put"), [put]) == put.version


def test_pin_is_the_newest_version_with_its_entries() -> None:
    versions = [KnownVersion(version={"tag": "a", "ref": str(order)}, check_order=order) for order in (1, 2)] + known(
        "3"
    )
    assert choose_version({"tag": "a"}, versions) == {"tag": "a", "ref": "2"}


def test_pin_that_no_check_has_listed_is_taken_at_its_word() -> None:
    assert choose_version({"n": "old"}, known("1")) == v("old")


def test_passed_is_the_newest_that_went_through_the_job() -> None:
    assert choose_version("latest", known("1", "2", "3"), passed=[[v("1"), v("2")]]) == v("2")


def test_passed_needs_every_job() -> None:
    assert choose_version("latest", known("1", "2", "3"), passed=[[v("1"), v("2"), v("3")], [v("1"), v("2")]]) == v("2")
    assert choose_version("latest", known("1", "2"), passed=[[v("1")], [v("2")]]) is None


def test_passed_job_that_never_succeeded_lets_nothing_through() -> None:
    assert choose_version("latest", known("1"), passed=[[]]) is None
    assert choose_version(v("1"), known("1"), passed=[[]]) is None


def test_version_a_job_made_itself_passes_without_a_check() -> None:
    assert choose_version("latest", [], passed=[[v("made")]]) == v("made")


def test_every_with_passed_takes_each_that_went_through_in_turn() -> None:
    passed = [[v("1"), v("3"), v("4")]]
    versions = known("1", "2", "3", "4")
    assert choose_version("every", versions, last_used=v("1"), passed=passed) == v("3")
    assert choose_version("every", versions, last_used=v("3"), passed=passed) == v("4")
    assert choose_version("every", versions, last_used=v("4"), passed=passed) == v("4")


def test_gets_with_every_move_on_in_lockstep() -> None:
    code, data = known("1", "2", "3", "4"), known("a", "b", "c")
    used = {"code": v("1"), "data": v("b")}
    seen = []
    for _ in range(4):
        wanted = {
            "code": Wanted("code", "every", code, used["code"]),
            "data": Wanted("data", "every", data, used["data"]),
        }
        chosen = choose_versions(wanted)
        assert chosen is not None
        seen.append((chosen["code"]["n"], chosen["data"]["n"], has_new_version(chosen, used)))
        used = chosen
    assert seen == [("2", "c", True), ("3", "c", True), ("4", "c", True), ("4", "c", False)]


def test_job_runs_only_when_all_its_gets_have_a_version() -> None:
    assert choose_versions({"a": Wanted("a", known=known("1")), "b": Wanted("b")}) is None


def test_gets_that_passed_one_job_take_what_one_of_its_runs_had() -> None:
    runs = [
        {"code": v("1"), "data": v("a")},
        {"code": v("2"), "data": v("a")},
        {"code": v("1"), "data": v("b")},
    ]
    wanted = {
        "code": Wanted("code", known=known("1", "2"), passed=["unit"]),
        "data": Wanted("data", known=known("a", "b"), passed=["unit"]),
    }
    assert choose_versions(wanted, {"unit": runs}) == {"code": v("1"), "data": v("b")}


def test_older_version_is_taken_where_the_newer_has_no_partner() -> None:
    runs = {"unit": [{"code": v("1"), "data": v("a")}, {"code": v("2")}], "lint": [{"code": v("1")}, {"code": v("2")}]}
    wanted = {
        "code": Wanted("code", known=known("1", "2"), passed=["unit", "lint"]),
        "data": Wanted("data", known=known("a"), passed=["unit"]),
    }
    assert choose_versions(wanted, runs) == {"code": v("1"), "data": v("a")}


def test_steps_that_nothing_ties_together_are_not_tried_in_combination() -> None:
    many = known(*map(str, range(2_000)))
    wanted = {name: Wanted(name, known=many) for name in "abcdef"}
    assert choose_versions({**wanted, "none": Wanted("none")}) is None


def test_first_run_has_something_new() -> None:
    assert has_new_version({"a": v("1")}, {})
    assert not has_new_version({"a": v("1")}, {"a": v("1")})


@given(st.lists(st.integers(0, 9).map(str), unique=True, min_size=1), st.integers(0, 9).map(str))
def test_every_visits_each_newer_version_once_and_in_order(names: list[str], start: str) -> None:
    versions = known(*names)
    used, seen = v(start), []
    for _ in range(len(names) + 1):
        chosen = choose_version("every", versions, last_used=used)
        assert chosen is not None
        if chosen == used:
            break
        seen.append(chosen["n"])
        used = dict(chosen)
    expected = names[names.index(start) + 1 :] if start in names else names[-1:]
    assert seen == expected
