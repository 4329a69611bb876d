"""Jobs that wait for each other."""

HEAD = "resources: [{name: code, type: git, source: {uri: u}}]\njobs:\n"


def jobs(**passed):
    return HEAD + "".join(
        f"- {{name: {name}, plan: [{{get: code, passed: [{after}]}}]}}\n" for name, after in passed.items()
    )


def test_longer_circle_is_told_once(problems):
    [line] = problems(jobs(a="c", b="a", c="b", d="a"))

    assert line == (
        "3:41: job `a`, step 1 (get `code`): the jobs wait for each other, so none would ever run: "
        "a -> c -> b -> a; remove one of these `passed:`"
    )


def test_two_circles_are_two_problems(problems):
    assert len(problems(jobs(a="b", b="a", c="d", d="c"))) == 2


def test_two_ways_to_one_job_are_no_circle(problems):
    from stepsnb.config import load_text

    assert len(load_text(jobs(a="b, c", b="d", c="d", d="")).jobs) == 4
