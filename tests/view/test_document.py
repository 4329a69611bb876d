import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsnb.view.document import Document, apply_patches


def document() -> Document:
    return Document({"text": "", "count": 0, "list": [], "box": {"text": "", "inner": {"text": ""}}})


_edits = st.one_of(
    st.tuples(st.just("append"), st.sampled_from([("text",), ("box", "text")]), st.text(max_size=5)),
    st.tuples(st.just("set"), st.sampled_from([("text",), ("box", "text")]), st.text(max_size=5)),
    st.tuples(st.just("set"), st.just(("count",)), st.integers(0, 3)),
    st.tuples(st.just("set"), st.just(("box",)), st.just({"text": "new", "inner": {"text": ""}})),
    st.tuples(st.just("append"), st.just(("box", "inner", "text")), st.text(max_size=5)),
    st.tuples(st.just("push"), st.just(("list",)), st.fixed_dictionaries({"text": st.text(max_size=3)})),
    st.tuples(st.just("element"), st.just(("list",)), st.text(max_size=5)),
    st.tuples(st.just("take"), st.just(()), st.none()),
)


@given(edits=st.lists(_edits, max_size=40))
def test_patches_repeat_every_change_elsewhere(edits):
    source = document()
    twin = copy.deepcopy(source.value)

    for operation, path, value in edits:
        match operation:
            case "append":
                source.append(path, value)
            case "set":
                source.set(path, copy.deepcopy(value))
            case "push":
                source.push(path, value)
            case "element" if source.value["list"]:
                source.append((*path, len(source.value["list"]) - 1, "text"), value)
            case "take":
                apply_patches(twin, source.take_patches())
                assert twin == source.value

    apply_patches(twin, source.take_patches())
    assert twin == source.value


def test_text_added_in_one_batch_is_one_patch():
    source = document()

    for piece in ("to", "ge", "ther"):
        source.append(("text",), piece)

    assert source.take_patches() == [{"op": "append", "path": ["text"], "value": "together"}]


def test_setting_what_is_there_already_sends_nothing():
    source = document()

    source.set(("count",), 0)
    source.append(("text",), "")

    assert source.take_patches() == []


def test_changing_a_pushed_element_does_not_change_the_patch_that_pushed_it():
    source = document()

    path = source.push(("list",), {"text": "a"})
    source.append((*path, "text"), "b")

    assert source.take_patches() == [
        {"op": "push", "path": ["list"], "value": {"text": "a"}},
        {"op": "append", "path": ["list", 0, "text"], "value": "b"},
    ]


def test_what_was_taken_is_not_sent_again():
    source = document()
    source.append(("text",), "a")
    source.take_patches()

    source.append(("text",), "b")

    assert source.take_patches() == [{"op": "append", "path": ["text"], "value": "b"}]


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="unknown patch operation `drop`; available: append, push, set"):
        apply_patches({}, [{"op": "drop", "path": ["a"], "value": None}])
