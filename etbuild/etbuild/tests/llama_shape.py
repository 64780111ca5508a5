"""Writes a checkpoint with the form of Llama 3.2 and random weights: python llama_shape.py FOLDER TOKENIZER_FOLDER."""

import shutil
import sys
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

folder, tokenizer = map(Path, sys.argv[1:])
scaling = dict(
    rope_type="llama3", factor=32.0, high_freq_factor=4.0, low_freq_factor=1.0, original_max_position_embeddings=8192
)
config = LlamaConfig(
    hidden_size=256,
    intermediate_size=768,
    num_hidden_layers=4,
    num_attention_heads=8,
    num_key_value_heads=2,
    head_dim=32,
    vocab_size=1024,
    rms_norm_eps=1e-5,
    rope_theta=500000.0,
    rope_scaling=scaling,
    tie_word_embeddings=True,
    max_position_embeddings=131072,
    bos_token_id=0,
    eos_token_id=1,
)
torch.manual_seed(1)
LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder, safe_serialization=True)
for name in ["tokenizer.json", "tokenizer_config.json"]:
    shutil.copy(tokenizer / name, folder)
