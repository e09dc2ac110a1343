"""Writes a language model that knows nothing, in seconds and without a download: make_tiny_model.py FOLDER.

Random weights (0.2 million), and a byte-level vocabulary of 2048 tokens learnt from Python's own library. Its
text is noise, but it counts tokens, batches, and follows constraints as any model does.
"""

import sys
import sysconfig
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

folder = sys.argv[1]
bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.decoder = decoders.ByteLevel()
bpe.train(
    [str(path) for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:80]],
    trainers.BpeTrainer(
        vocab_size=2048,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    ),
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=bpe,
    unk_token=SPECIAL[0],
    bos_token=SPECIAL[1],
    eos_token=SPECIAL[2],
    pad_token=SPECIAL[2],
)
tokenizer.chat_template = TEMPLATE
tokenizer.save_pretrained(folder)

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=32,
    max_position_embeddings=8192,
    tie_word_embeddings=True,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=2,
)
LlamaForCausalLM(config).save_pretrained(folder)
