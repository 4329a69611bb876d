"""Messages that files of an artifact hold."""

import pytest

from stepsnb.config import AgentStep
from stepsnb.errors import WorkspaceError
from stepsnb.run.opening import with_messages
from stepsnb.workspace import Root

STEP = AgentStep.model_validate(
    {"agent": "a", "inputs": ["repo"], "message_files": [{"artifact": "repo", "path": "ci/ASK.md"}]}
)


@pytest.fixture
def work(tmp_path):
    """A working directory with a secret beside it."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "ASK.md").write_text("the key")
    (tmp_path / "work" / "repo").mkdir(parents=True)
    return tmp_path / "work"


def test_message_is_the_text_of_its_file_at_the_time(work):
    (work / "repo" / "ci").mkdir()
    for words in ("Go.", "Go on."):
        (work / "repo" / "ci" / "ASK.md").write_text(words)
        assert with_messages(STEP, Root(work)).messages == (words,)


@pytest.mark.parametrize(("place", "target"), [("ci", "../../secret"), ("ci/ASK.md", "../../../secret/ASK.md")])
def test_link_that_leads_out_is_not_followed(work, place, target):
    link = work / "repo" / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    assert link.exists()
    with pytest.raises(WorkspaceError, match=r"message_files: `repo/ci/ASK\.md`: .* is outside the working directory"):
        with_messages(STEP, Root(work))


def test_file_without_a_word_is_no_message(work):
    (work / "repo" / "ci").mkdir()
    (work / "repo" / "ci" / "ASK.md").write_text(" \n")
    with pytest.raises(WorkspaceError, match="it is empty"):
        with_messages(STEP, Root(work))
