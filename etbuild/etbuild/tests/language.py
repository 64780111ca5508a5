"""What Python computes with tokenizers, chat templates and the tiny model, for comparison.

    python language.py MODEL FOLDER      writes FOLDER/expected.json and tokenizers beside it

`expected.json` has `tokenizers`, for each the name of its file, and for each text its tokens and their text again; `chats`, for
each of a few conversations its messages and the text that the template makes of them; `greedy`, for each of a few prompts its
tokens and those that follow.
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

TEXTS = [
    "Once there was a fox called Ada.", " leading and trailing  blanks  ", "tabs\tand\n\nlines\r\n   of code {};",
    "Größe, naïve, Ελληνικά, Привет мир, שלום, مرحبا بالعالم, नमस्ते दुनिया", "日本語のテキスト 中文 한국어 ไทย",
    "🦊👩‍👩‍👧‍👦 é vs e\u0301 ﬁ ½ Ⅻ １２３", "I'll we've DON'T 12345678 3.14 x²", "<|begin|>not begun<|end|>", "", "\u0000\u200b\ufeff",
]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CHATS = [
    [{"role": "user", "content": "Tell me a story."}],
    [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Who is Ada?"},
     {"role": "assistant", "content": "Ada is a fox."}, {"role": "user", "content": "  Thanks & <bye>\n"}],
]
PROMPTS = ["Once there was a fox called Ada.", "In the forest lived", "<|user|>Tell me a story.<|end|><|assistant|>"]


def trained(tokenizer, alphabet):
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(TEXTS * 3, trainer)
    return tokenizer


def byte_level():
    """As Llama 3 and Qwen split texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, pre_tokenizers.ByteLevel.alphabet())


def byte_fallback():
    """As Gemma and Llama 2 do: blanks become a letter, and what has no token becomes bytes."""
    learned = Tokenizer(models.BPE())
    learned.normalizer = normalizers.Replace(" ", "▁")
    learned = json.loads(trained(learned, []).to_str())["model"]
    tokens = ["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    letters = "abcdefghijklmnopqrstuvwxyzAIO▁.,'é"
    tokens += [token for token in learned["vocab"] if all(letter in letters for letter in token)]
    merges = [tuple(merge) for merge in learned["merges"] if "".join(merge) in tokens and set(merge) <= set(tokens)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def cases(tokenizer):
    def case(text):
        tokens = tokenizer.encode(text).ids
        return {"text": text, "tokens": tokens, "decoded": tokenizer.decode(tokens)}
    return [case(text) for text in TEXTS]


def greedy(model, tokenizer, prompt):
    tokens = tokenizer(prompt)["input_ids"]
    with torch.no_grad():
        # Without a mask, the first token is taken for padding.
        out = model.generate(torch.tensor([tokens]), attention_mask=torch.ones(1, len(tokens), dtype=torch.long),
                             max_new_tokens=150, do_sample=False, eos_token_id=model.generation_config.eos_token_id, pad_token_id=0)[0].tolist()
    stops = model.generation_config.eos_token_id
    return {"prompt": tokens, "tokens": [token for token in out[len(tokens):] if token not in stops]}


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tiny = PreTrainedTokenizerFast.from_pretrained(folder)
    made = {"byte-level.json": byte_level(), "byte-fallback.json": byte_fallback(),
            "tiny.json": Tokenizer.from_file(str(folder / "tokenizer.json"))}
    for name, tokenizer in made.items():
        tokenizer.save(str(out / name))
    chats = [{"messages": messages, "text": tiny.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)}
             for messages in CHATS]
    expected = {"tokenizers": {name: cases(tokenizer) for name, tokenizer in made.items()}, "chats": chats,
                "greedy": [greedy(model, tiny, prompt) for prompt in PROMPTS]}
    (out / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
