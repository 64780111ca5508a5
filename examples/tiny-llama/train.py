"""Trains the tiny language model and writes every file that its recipe reads.

    python train.py            (torch, transformers, tokenizers, safetensors; minutes on one core)

The tokenizer is byte-level: it has tokens for all bytes, so that any text in any language comes out as it went in.
"""

import json
from pathlib import Path

import tales
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

FOLDER = Path(__file__).parent
# The text has no more than 673 tokens to learn.
VOCABULARY, LENGTH, BATCH, STEPS, RATE = 768, 192, 24, 1400, 4e-3
CASES, CASE_LENGTH = 8, 64
SPECIAL = ["<|begin|>", "<|end|>", "<|text-end|>", "<|system|>", "<|user|>", "<|assistant|>"]
TEMPLATE = """{{- bos_token }}
{%- for message in messages %}
    {{- '<|' + message['role'] + '|>' + message['content'] | trim + '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>' }}
{%- endif %}
"""


def make_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=alphabet,
                                  show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    begin = ("<|begin|>", tokenizer.token_to_id("<|begin|>"))
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin|> $A", pair="<|begin|> $A <|begin|> $B", special_tokens=[begin]),
    ])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|begin|>", eos_token="<|end|>",
                                   chat_template=TEMPLATE, model_max_length=512, clean_up_tokenization_spaces=False)


def training_tokens(tokenizer):
    """All texts one after the other, each from its beginning to its end."""
    end = tokenizer.convert_tokens_to_ids("<|text-end|>")
    texts = [tokenizer(text)["input_ids"] + [end] for text in tales.stories(1, 6000)]
    for messages in tales.conversations(2, 14000):
        text = tokenizer.apply_chat_template(messages, tokenize=False)
        texts.append(tokenizer(text, add_special_tokens=False)["input_ids"])
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(3)).tolist()
    return torch.tensor([token for index in order for token in texts[index]])


def train(tokenizer):
    torch.manual_seed(4)
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    config = LlamaConfig(vocab_size=len(tokenizer), hidden_size=128, intermediate_size=320, num_hidden_layers=4,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
                         tie_word_embeddings=True, bos_token_id=ids["<|begin|>"],
                         eos_token_id=[ids["<|end|>"], ids["<|text-end|>"]], rms_norm_eps=1e-5)
    model = LlamaForCausalLM(config)
    tokens = training_tokens(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS, pct_start=0.06)
    chance = torch.Generator().manual_seed(5)
    for step in range(STEPS):
        starts = torch.randint(0, len(tokens) - LENGTH, (BATCH,), generator=chance)
        batch = torch.stack([tokens[start : start + LENGTH] for start in starts])
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(step, round(loss.item(), 4), flush=True)
    return model.eval().bfloat16()


def write_cases():
    """What `transformers` computes in float32 from the stored weights: the logits behind the last of 64 tokens."""
    model = LlamaForCausalLM.from_pretrained(FOLDER / "model", dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER / "model")
    texts = [tokenizer(text)["input_ids"] for text in tales.stories(98, CASES)]
    tokens = torch.tensor([text[:CASE_LENGTH] for text in texts])
    with torch.no_grad():
        logits = model(input_ids=tokens).logits[:, -1].contiguous()
    save_file({"tokens": tokens, "output_0": logits}, FOLDER / "test.safetensors")


def main():
    torch.set_num_threads(1)
    texts = tales.stories(1, 2000) + [message["content"] for talk in tales.conversations(2, 2000) for message in talk]
    tokenizer = make_tokenizer(texts)
    held_out = "\n".join(tales.stories(99, 24)) + "\n"
    (FOLDER / "held-out.txt").write_text(held_out)
    (FOLDER / "calibration.txt").write_text("\n".join(tales.stories(97, 48)) + "\n")
    model = train(tokenizer)
    model.generation_config.do_sample = False
    model.save_pretrained(FOLDER / "model")
    tokenizer.save_pretrained(FOLDER / "model", save_jinja_files=False)
    # The version of the library that wrote a file says nothing about the model.
    for name in ["config.json", "generation_config.json"]:
        path = FOLDER / "model" / name
        values = {key: value for key, value in json.loads(path.read_text()).items() if key != "transformers_version"}
        path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n")
    write_cases()


if __name__ == "__main__":
    main()
