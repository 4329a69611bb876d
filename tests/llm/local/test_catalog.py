"""The local models by name."""

import pytest

from stepsnb.errors import InputError
from stepsnb.llm.local import LOCAL_MODELS, local_model


def test_unknown_local_model_is_answered_with_what_there_is():
    with pytest.raises(InputError) as caught:
        local_model("smolm2")

    assert str(caught.value) == "unknown local model `smolm2` (did you mean `smollm2`?); available: smollm2"


def test_every_model_is_keyed_by_its_own_name():
    assert all(name == model.name for name, model in LOCAL_MODELS.items())
