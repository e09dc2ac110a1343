"""`vllm bench serve` with prompts out of a file; run with the Python of the environment that has vLLM.

    vllm_bench_client.py PROMPTS OUTPUT_TOKENS [arguments of `vllm bench serve`]

PROMPTS is a JSON list of texts. By itself, `vllm bench serve` reads prompts with pandas, which it needs for
nothing else.
"""

import asyncio
import json
import sys

from vllm.benchmarks import serve
from vllm.benchmarks.datasets import SampleRequest
from vllm.utils.argparse_utils import FlexibleArgumentParser


def main(prompts: str, output_tokens: int, arguments: list[str]) -> None:
    with open(prompts) as file:
        texts = json.load(file)
    samples = [
        SampleRequest(prompt=text, prompt_len=1, expected_output_len=output_tokens, request_id=f"bench-{n}")
        for n, text in enumerate(texts)
    ]
    serve.get_samples = lambda *_, **__: samples
    parser = FlexibleArgumentParser()
    serve.add_cli_args(parser)
    asyncio.run(serve.main_async(parser.parse_args(arguments)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
