"""What a server is and takes, as found out by asking it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Structure(StrEnum):
    """How a server can be told to hold a reply to a form."""

    STRUCTURED_OUTPUTS = "structured_outputs"
    """vLLM from 0.11 on: patterns, choices and JSON schemas."""
    GUIDED = "guided"
    """Older vLLM: the same under other names. Newer ones take these names, and do nothing about them."""
    JSON_SCHEMA = "response_format"
    """OpenAI, llama-server, Ollama and others: a JSON schema, nothing else."""
    NONE = "none"


class Features(msgspec.Struct, frozen=True):
    """One server. The defaults are what every server of chat completions takes."""

    software: str = "unknown"
    model: str = ""
    """The model's name in requests."""
    replies_as: str = ""
    """The model's name in replies; hosted ones add a date."""
    root: str = ""
    """Where the server has the weights from, if it tells."""
    context: int | None = None
    """Most tokens of prompt and reply together, if the server tells."""
    structure: Structure = Structure.NONE
    samples: bool = False
    """Several replies to one request (`n`)."""
    seed: bool = False
    extended: bool = False
    """`top_k` and `min_p`."""
    priority: bool = False
    logprobs: bool = False
    """Tells how likely replies were; only looked for if that was asked for."""
    resumes: bool = False
    """Goes on with a reply that was begun (`continue_final_message`)."""
    counts: bool = False
    """Tells how many tokens a conversation has (`/tokenize`)."""
    metrics: bool = False
    """Tells its queue (`/metrics`, as vLLM names it)."""
    limit_field: str = "max_tokens"
    """What the longest reply is called: OpenAI's newer models want `max_completion_tokens`."""

    @property
    def identity(self) -> dict[str, str]:
        """What replies depend on."""
        return {"model": self.replies_as, "weights": self.root, "software": self.software}

    @property
    def must_equal(self) -> str:
        """In what all servers of one model have to be equal: a reply may be begun here and ended there."""
        resumes, extended, logprobs = self.resumes, self.extended, self.logprobs
        return f"model {self.model!r}, forms by {self.structure}, {resumes=}, {extended=}, {logprobs=}"

    def same_as(self, other: Features) -> bool:
        """Tell whether two servers have the same model and take the same, of whatever version they are."""
        return msgspec.structs.replace(self, software=other.software) == other
