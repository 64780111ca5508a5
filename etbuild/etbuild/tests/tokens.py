"""Small models of random weights whose tokenizer is in another form than `tokenizer.json`, and the tokens of texts by the libraries of
these forms.

    python tokens.py FOLDER     writes FOLDER/NAME/model and FOLDER/NAME/texts.json of each

The file is a list of texts, each with the tokens. `conversations.json` of Mistral's models is a list of conversations, with the tools and the
tokens.
"""

import base64
import io
import json
import random
import sys
from pathlib import Path

import sentencepiece
import tiktoken
import torch
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.tokens.tokenizers.base import SpecialTokens
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, MT5Config,
                          MT5ForConditionalGeneration, Qwen2Config, Qwen2ForCausalLM, T5Config,
                          T5ForConditionalGeneration)
from transformers.convert_slow_tokenizer import bytes_to_unicode
from transformers.integrations.mistral import convert_tekken_tokenizer

SEQ2SEQ = dict(vocab_size=512, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_decoder_layers=1, num_heads=2, decoder_start_token_id=0)
DECODER = dict(vocab_size=512, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
               max_position_embeddings=64)
WORDS = ("the small house translate into German naïve façade Straße größer dom мир привет как дела 東京 日本語 カタカナ ひらがな 한국어 العربية "
         "שלום हिन्दी ไทย Ελληνικά 3.14 42 1,000 e-mail don't (x) [y] a_b ½ ﬁne ｆｕｌｌ e\u0301 Å").split()
SPACES = [" ", " ", " ", "  ", "   ", "\t", "\n", " \n ", "\r\n", "\u00a0", "\u3000", "\u200b", "\u2028"]
OTHERS = ["\x01", "\x07", "\x1f", "\x7f", "\ufeff", "🙂", "👩\u200d🚀", "𝔘", "▁", "<", "</s", "<extra_id_", "q\u0323\u0307"]


def texts(special):
    """Texts of words in several scripts, spaces, control characters and special tokens."""
    chance = random.Random(1)
    made = ["", " ", "a", "  two  spaces  ", "▁", "\n\n", " a", "a "]
    while len(made) < 200:
        parts = []
        for _ in range(chance.randint(1, 9)):
            parts.append(chance.choice(chance.choice([WORDS, WORDS, WORDS, OTHERS, special or WORDS])))
            parts.append(chance.choice(SPACES) if chance.random() < 0.8 else "")
        made.append("".join(parts))
    return made


def pieces(**options):
    """A model of SentencePiece, trained here."""
    chance, made = random.Random(2), io.BytesIO()
    lines = (" ".join(chance.choice(WORDS) for _ in range(chance.randint(2, 12))) for _ in range(500))
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=made, hard_vocab_limit=False, minloglevel=2, **options)
    return made.getvalue()


def write(folder, model, file, contents, config):
    """The model of a folder, and the tokenizer of `transformers` for the folder."""
    model.save_pretrained(folder)
    (folder / file).write_bytes(contents)
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return AutoTokenizer.from_pretrained(folder)


def t5(folder):
    contents = pieces(vocab_size=300, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    made = write(folder, T5ForConditionalGeneration(T5Config(**SEQ2SEQ)), "spiece.model", contents, None)
    return [[text, made(text).input_ids] for text in texts(["<extra_id_0>", "<extra_id_99>", "</s>", "<pad>", "<unk>", "<extra_id_100>"])]


def t5_without_extra_tokens(folder):
    contents = pieces(vocab_size=300, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, user_defined_symbols=["[GAP]"])
    config = dict(tokenizer_class="T5Tokenizer", extra_ids=0, eos_token="</s>")
    made = write(folder, T5ForConditionalGeneration(T5Config(**SEQ2SEQ)), "spiece.model", contents, config)
    return [[text, made(text).input_ids] for text in texts(["[GAP]", "<extra_id_0>", "</s>"])]


def mt5(folder):
    """SentencePiece itself: `transformers` has no bytes for the characters of other alphabets."""
    contents = pieces(vocab_size=600, model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, byte_fallback=True, character_coverage=0.98)
    write(folder, MT5ForConditionalGeneration(MT5Config(**SEQ2SEQ)), "spiece.model", contents, dict(extra_ids=0))
    made = sentencepiece.SentencePieceProcessor(model_proto=contents)
    return [[text, made.encode(text) + [made.eos_id()]] for text in texts([])]


def llama(folder):
    contents = pieces(vocab_size=500, model_type="bpe", byte_fallback=True, normalization_rule_name="identity", character_coverage=0.98,
                      remove_extra_whitespaces=False, user_defined_symbols=["<|tool|>"])
    token = dict(lstrip=False, normalized=False, rstrip=False, single_word=False, special=True)
    count = sentencepiece.SentencePieceProcessor(model_proto=contents).vocab_size()
    added = {str(count): token | dict(content="<|im_start|>"), str(count + 1): token | dict(content="<|im_end|>", rstrip=True)}
    config = dict(tokenizer_class="LlamaTokenizer", add_bos_token=True, add_eos_token=False, legacy=False, bos_token="<s>",
                  eos_token="</s>", unk_token="<unk>", added_tokens_decoder=added)
    made = write(folder, LlamaForCausalLM(LlamaConfig(**DECODER)), "tokenizer.model", contents, config)
    return [[text, made(text).input_ids] for text in texts(["<|im_start|>", "<|im_end|>", "<|tool|>", "<s>", "</s>"])]


# The expression of Mistral's files.
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
          r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "<pad>"]


def ranks(count):
    """The bytes of tokens by rank, trained here: single bytes first."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([" ".join(WORDS[at:] + WORDS[:at]) for at in range(len(WORDS))], trainers.BpeTrainer(
        vocab_size=count, initial_alphabet=alphabet, show_progress=False))
    byte = {letter: byte for byte, letter in bytes_to_unicode().items()}
    tokens = [bytes(byte[letter] for letter in made.id_to_token(token)) for token in range(made.get_vocab_size())]
    return sorted((token for token in tokens if len(token) == 1)) + [token for token in tokens if len(token) > 1]


def tekken(folder, special=SPECIAL, version="v11", count=32):
    """tiktoken over the ranks, as `mistral_common` reads the file. Texts with special tokens are those of `transformers`."""
    tokens = ranks(420)
    padding = 7
    config = dict(pattern=TEKKEN, num_vocab_tokens=len(tokens), default_vocab_size=count + len(tokens) - padding,
                  default_num_special_tokens=count, version=version)
    vocabulary = [dict(rank=rank, token_bytes=base64.b64encode(token).decode(), token_str=None) for rank, token in enumerate(tokens)]
    listed = [dict(rank=rank, token_str=text, is_control=True) for rank, text in enumerate(special)]
    contents = dict(config=config, vocab=vocabulary) | (dict(special_tokens=listed) if special else {})
    MistralForCausalLM(MistralConfig(**DECODER)).save_pretrained(folder)
    (folder / "tekken.json").write_text(json.dumps(contents))
    made = tiktoken.Encoding("tekken", pat_str=TEKKEN, special_tokens={},
                             mergeable_ranks={token: rank for rank, token in enumerate(tokens[:-padding])})
    plain = [[text, [1] + [count + token for token in made.encode(text)]] for text in texts([])[:150]]
    if not special:
        return plain + plain[:50]
    fast = convert_tekken_tokenizer(str(folder / "tekken.json"))
    return plain + [[text, [1] + fast(text, add_special_tokens=False).input_ids] for text in texts(["[INST]", "[/INST]", "</s>", "<SPECIAL_9>"])[150:]]


def tekken_without_special_tokens(folder):
    return tekken(folder, [], "v3")


def token(text, **flags):
    return dict(content=text, lstrip=False, normalized=False, rstrip=False, single_word=False, special=True) | flags


def byte_pairs(folder, special, model=None, behind=(), **files):
    """`vocab.json` and `merges.txt`, trained here, with special tokens in the vocabulary and behind, and further files."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator([" ".join(WORDS[at:] + WORDS[:at]) for at in range(len(WORDS))], trainers.BpeTrainer(
        vocab_size=440, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=special, show_progress=False))
    (model or LlamaForCausalLM(LlamaConfig(**DECODER))).save_pretrained(folder)
    made.model.save(str(folder))
    for name, contents in files.items():
        contents = {key: made.get_vocab_size() + at for at, key in enumerate(behind)} if contents is None else contents
        (folder / f"{name}.json").write_text(json.dumps(contents))
    assert not (folder / "tokenizer.json").exists()
    made = AutoTokenizer.from_pretrained(folder)
    assert len(made) <= 512
    return [[text, made(text).input_ids] for text in texts([*special, *behind])]


def gpt2(folder):
    """Without a configuration of the tokenizer: the type of the model says the class."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_embd=8, n_layer=1, n_head=2, n_positions=64))
    return byte_pairs(folder, ["<|endoftext|>"], model)


def gpt2_with_spaces(folder):
    """The files of OPT: a token ahead of a text; and a space."""
    config = dict(tokenizer_class="GPT2Tokenizer", add_bos_token=True, add_prefix_space=True, errors="replace")
    names = dict(bos_token=token("</s>", normalized=True), eos_token="</s>", unk_token="</s>", pad_token="<pad>")
    return byte_pairs(folder, ["<s>", "<pad>", "</s>"], tokenizer_config=config, special_tokens_map=names)


def codegen(folder):
    return byte_pairs(folder, ["<|endoftext|>"], tokenizer_config=dict(tokenizer_class="CodeGenTokenizer", unk_token="<|endoftext|>"))


def neox(folder):
    return byte_pairs(folder, ["<|endoftext|>", "<|padding|>"], tokenizer_config=dict(tokenizer_class="GPTNeoXTokenizerFast"))


def qwen2(folder):
    """The files of Qwen 1.5 and 2."""
    behind = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    added = {str(440 + at): token(text) for at, text in enumerate(behind)}
    config = dict(tokenizer_class="Qwen2Tokenizer", added_tokens_decoder=added, additional_special_tokens=behind[1:], bos_token=None,
                  eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None, add_prefix_space=False, split_special_tokens=False)
    return byte_pairs(folder, [], Qwen2ForCausalLM(Qwen2Config(**DECODER)), behind, tokenizer_config=config)


def qwen2_with_added_tokens(folder):
    """The files of older versions: tokens with a role and without beside the vocabulary."""
    names = dict(eos_token=token("<|im_end|>"), pad_token="<|endoftext|>", additional_special_tokens=["<|im_start|>", "<|im_end|>"])
    return byte_pairs(folder, [], Qwen2ForCausalLM(Qwen2Config(**DECODER)), ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool>", "Å"],
                      added_tokens=None, special_tokens_map=names)


def roberta(folder):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    names = dict(bos_token="<s>", cls_token="<s>", eos_token="</s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
                 mask_token=token("<mask>", lstrip=True))
    return byte_pairs(folder, special, tokenizer_config=dict(tokenizer_class="RobertaTokenizer"), special_tokens_map=names)


def whisper(folder):
    """Tokens around a text are those of the decoder's prompt, and not of the tokenizer."""
    byte_pairs(folder, ["<|endoftext|>"], tokenizer_config=dict(tokenizer_class="WhisperTokenizer"))
    made = AutoTokenizer.from_pretrained(folder)
    return [[text, made(text, add_special_tokens=False).input_ids] for text in texts(["<|endoftext|>"])]


TOOL = dict(type="function", function=dict(name="weather", description="Das Wetter in Köln.", parameters=dict(
    type="object", properties=dict(place=dict(type="string")), required=["place"])))
CALL = dict(id="abcde1234", type="function", function=dict(name="weather", arguments='{"place": "Köln"}'))
SYSTEM, ASKED, MORE = ({"role": role, "content": text} for role, text in [("system", "Be brief. [x]"), ("user", " wie das Wetter? "),
                                                                          ("user", "And\ntomorrow?")])
SAID, RAIN = dict(role="assistant", content="Rain \t 3.14 "), dict(role="tool", tool_call_id="abcde1234", name="weather", content="12 °C, rain")
DRY, MILD = RAIN | dict(content='{"t": 12}'), dict(role="assistant", content="Mild.")
PLAIN = dict(type="function", function=dict(name="now", strict=True, parameters=dict(type="object", properties={})))
CALLED = dict(role="assistant", content=None, tool_calls=[CALL])
CONVERSATIONS = [([ASKED], []), ([SYSTEM, ASKED], []), ([SYSTEM, ASKED, SAID, MORE], []), ([ASKED, MORE], []), ([ASKED, SAID, ASKED, MORE], [TOOL]),
                 ([SYSTEM, ASKED], [TOOL]), ([SYSTEM, ASKED, SYSTEM], []), ([ASKED], [TOOL, PLAIN]), ([ASKED, CALLED, DRY], [TOOL]), ([ASKED, SAID, MILD, MORE], []), ([ASKED, CALLED, RAIN], [TOOL]), ([SYSTEM, ASKED, CALLED, RAIN, SAID, MORE], [TOOL])]


def mistral(version):
    """Conversations as `mistral_common` writes them."""

    def written(folder):
        made = tekken(folder, [token.value for token in SpecialTokens], version, 48)
        tokenizer = MistralTokenizer.from_file(str(folder / "tekken.json"))
        request = lambda messages, tools: ChatCompletionRequest(messages=messages, tools=tools or None)
        conversations = [dict(messages=messages, tools=tools, tokens=tokenizer.encode_chat_completion(request(messages, tools)).tokens)
                         for messages, tools in CONVERSATIONS]
        (folder.parent / "conversations.json").write_text(json.dumps(conversations))
        return made

    written.__name__ = f"mistral_{version}"
    return written


for name in [t5, t5_without_extra_tokens, mt5, llama, tekken, tekken_without_special_tokens, gpt2, gpt2_with_spaces, codegen, neox, qwen2,
             qwen2_with_added_tokens, roberta, whisper,
             *map(mistral, ["v3", "v7", "v11", "v13"])]:
    folder = Path(sys.argv[1]) / name.__name__
    (folder / "model").mkdir(parents=True)
    torch.manual_seed(1)
    (folder / "texts.json").write_text(json.dumps(name(folder / "model")))
