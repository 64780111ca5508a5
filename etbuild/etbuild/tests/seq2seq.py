"""Small encoder-decoder models of random weights, and what transformers computes with them.

    python seq2seq.py FOLDER STEPS            writes FOLDER/NAME/model and FOLDER/NAME/cases.json of each model
    python seq2seq.py --real FOLDER STEPS     writes FOLDER/real, the configuration of flan-t5-small, and says how long PyTorch takes

A case has the `text`, its `tokens`, the greedy tokens (`new`), their text (`told`) and the logits of each step.
"""

import json
import string
import sys
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (MT5Config, MT5ForConditionalGeneration, PreTrainedTokenizerFast, T5Config,
                          T5ForConditionalGeneration)

TEXTS = ["a", "translate the w3 to w5: hello", "the late w7 " * 20]
SMALL = dict(vocab_size=128, d_model=32, d_kv=8, d_ff=48, num_layers=3, num_decoder_layers=2, num_heads=4,
             relative_attention_num_buckets=16, relative_attention_max_distance=40)
MODELS = {
    "t5": (T5Config, T5ForConditionalGeneration, dict(tie_word_embeddings=True)),
    "t5-v1_1": (T5Config, T5ForConditionalGeneration,
                dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False, d_kv=12)),
    "mt5": (MT5Config, MT5ForConditionalGeneration, dict(feed_forward_proj="gated-gelu", num_decoder_layers=3)),
}
REAL = dict(vocab_size=32128, d_model=512, d_kv=64, d_ff=1024, num_layers=8, num_decoder_layers=8, num_heads=6,
            feed_forward_proj="gated-gelu", tie_word_embeddings=False)


def write_tokenizer(folder, size):
    """A unigram tokenizer of letters and a few words, as SentencePiece makes them."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(letter, -4 - index / 100) for index, letter in enumerate(string.ascii_letters + string.digits + ".,:!?")]
    pieces += [("▁the", -3.0), ("▁trans", -3.5), ("late", -3.5), ("ing", -3.2), ("▁to", -3.1)]
    pieces += [(f"▁w{index}", -6 - index / 1000) for index in range(size - len(pieces))]
    made = Tokenizer(models.Unigram(pieces, unk_id=2))
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
    fast.save_pretrained(folder)
    return made


def model_of(name, seed):
    config, model, own = MODELS[name]
    torch.manual_seed(seed)
    made = model(config(decoder_start_token_id=0, pad_token_id=0, eos_token_id=None, **{**SMALL, **own})).eval()
    with torch.no_grad():
        for key, weights in made.named_parameters():
            if "layer_norm" in key:
                weights.copy_(1 + 0.2 * torch.randn_like(weights))
            else:
                weights.normal_(0, 1.0 if "relative" in key else 0.13)
    if name != "t5":
        made.lm_head.weight = torch.nn.Parameter(0.5 * torch.randn(128, 32))
    return made


def case(model, tokenizer, text, steps):
    tokens = tokenizer.encode(text).ids
    made = model.generate(torch.tensor([tokens]), max_new_tokens=steps, min_new_tokens=steps, do_sample=False,
                          return_dict_in_generate=True, output_logits=True)
    new = made.sequences[0][1:].tolist()
    logits = [row[0].tolist() for row in made.logits]
    return dict(text=text, tokens=tokens, new=new, told=tokenizer.decode(new), logits=logits)


def write(folder, model, size, texts, steps):
    (folder / "model").mkdir(parents=True)
    tokenizer = write_tokenizer(folder / "model", size)
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder / "model")
    cases = [case(model, tokenizer, text, steps) for text in texts]
    (folder / "cases.json").write_text(json.dumps(cases))
    return cases


def variety(model, steps):
    """How many tokens the model tells of one prompt: a model that repeats itself would hide mistakes."""
    return len(set(model.generate(torch.tensor([[5, 9, 1]]), max_new_tokens=steps, do_sample=False)[0].tolist()))


def main(arguments):
    is_real = arguments[0] == "--real"
    folder, steps = Path(arguments[-2]), int(arguments[-1])
    if is_real:
        torch.manual_seed(1)
        torch.set_num_threads(2)
        model = T5ForConditionalGeneration._from_config(
            T5Config(decoder_start_token_id=0, eos_token_id=None, **REAL), attn_implementation="eager").eval()
        text = "translate the w3 to w5: hello"
        tokens = write(folder / "real", model, REAL["vocab_size"], [text], steps)[0]["tokens"]
        start = time.time()
        model.generate(torch.tensor([tokens]), max_new_tokens=steps, min_new_tokens=steps, do_sample=False)
        print(f"{time.time() - start:.3f} s for {steps} tokens")
        return
    for name in MODELS:
        model = max((model_of(name, seed) for seed in range(2)), key=lambda model: variety(model, steps))
        write(folder / name, model, 128, TEXTS, steps)


main(sys.argv[1:])
