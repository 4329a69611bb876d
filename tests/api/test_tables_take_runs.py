"""Tables of a run that is at hand."""

import stepsnb


def test_run_stands_for_its_id_in_every_table(tmp_path):
    run = stepsnb.load("jobs: [{name: j, plan: [{task: t, run: echo hi}]}]").run(store=tmp_path)
    for table in (stepsnb.steps, stepsnb.transcript, stepsnb.trajectory, stepsnb.cost, stepsnb.models):
        assert table(run, store=tmp_path).equals(table(run.run_id, store=tmp_path))
    assert stepsnb.steps(run, store=tmp_path)["name"].tolist() == ["t"]
