"""Small models of random weights that hear, and what transformers computes with them.

    python hearing.py FOLDER STEPS     writes FOLDER/NAME/model, FOLDER/NAME/cases.json and sounds of each model
    python hearing.py --real FOLDER STEPS     writes FOLDER/real, the configuration of whisper-base, and says how long PyTorch takes

A case of a model for transcripts has the `sound`, the options, the `tokens` of the segments with their times, and the detected
`language`; logits of the first case are in logits.safetensors, features in features.safetensors. A case of a model for prompts is as in
vision.py, with `sound` in the place of `picture`.
"""

import json
import sys
import time
import types
import wave
from pathlib import Path

import numpy
import torch
import transformers
from safetensors.torch import save_file
from transformers.models.whisper import tokenization_whisper
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from checkpoints import SMALL, greedy

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:?!<>/ \n"
SPOKEN = ["<|startoftranscript|>", "<|en|>", "<|de|>", "<|fr|>", "<|translate|>", "<|transcribe|>", "<|startofprev|>",
          "<|nospeech|>", "<|notimestamps|>"]
POSITIONS, RATE = 100, 16000
TIMES = [f"<|{step * 0.02:.2f}|>" for step in range(POSITIONS + 1)]


def ids(special):
    return {token: index for index, token in enumerate(["<pad>", "<s>", "<|endoftext|>", "<unk>", *LETTERS, *special])}


def tokenizer_of(special):
    """A tokenizer whose tokens are letters."""
    made = Tokenizer(models.WordLevel(ids(special), unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.decoder = decoders.Fuse()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<s>",
                                                eos_token="<|endoftext|>", pad_token="<pad>")
    fast.add_special_tokens(dict(additional_special_tokens=special))
    return fast


def sounds(folder):
    """Sounds of several lengths: sweeps and noise."""
    random = numpy.random.RandomState(4)
    for name, seconds in dict(short=1.3, long=5.07, other=0.8, middle=1.9, brief=0.5).items():
        at = numpy.arange(int(seconds * RATE)) / RATE
        sweep = 0.4 * numpy.sin(2 * numpy.pi * (200 + 400 * at) * at) + 0.05 * random.randn(len(at))
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((sweep.clip(-1, 1) * 32767).astype("<i2").tobytes())


def samples(path):
    with wave.open(str(path)) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype(numpy.float32) / 32768


def whisper_of(name):
    known = ids(SPOKEN + TIMES)
    sizes = dict(vocab_size=len(known), d_model=48, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                 decoder_attention_heads=4, encoder_ffn_dim=72, decoder_ffn_dim=80, num_mel_bins=20,
                 max_source_positions=POSITIONS, max_target_positions=96, pad_token_id=0, bos_token_id=2, eos_token_id=2,
                 decoder_start_token_id=known["<|startoftranscript|>"], suppress_tokens=None, begin_suppress_tokens=None)
    if name == "whisper-english":
        sizes |= dict(encoder_attention_heads=3, decoder_attention_heads=6, scale_embedding=True, activation_function="relu",
                      decoder_layers=3, tie_word_embeddings=False)
    config = transformers.WhisperConfig(**sizes)
    generation = transformers.GenerationConfig(
        decoder_start_token_id=known["<|startoftranscript|>"], eos_token_id=2, pad_token_id=0, bos_token_id=2, max_length=96,
        no_timestamps_token_id=known["<|notimestamps|>"], suppress_tokens=[1, 7, 9, *(known[one] for one in SPOKEN[:8])],
        begin_suppress_tokens=[known[" "], 2], return_timestamps=False, prev_sot_token_id=known["<|startofprev|>"],
        is_multilingual=name != "whisper-english")
    if name != "whisper-english":
        generation.lang_to_id = {one: known[one] for one in SPOKEN[1:4]}
        generation.task_to_id = {one: known[f"<|{one}|>"] for one in ("translate", "transcribe")}
        generation.max_initial_timestamp_index = 30
        generation.alignment_heads = [[0, 1], [1, 0], [1, 3]]
    return config, generation


def filled(model, seed):
    torch.manual_seed(seed)
    for key, parameter in model.named_parameters():
        mean = 1.0 if "norm" in key and "weight" in key else 0.0
        torch.nn.init.normal_(parameter, mean, 0.15)
    return model.eval()


@torch.no_grad()
def whisper(name, folder, steps):
    config, generation = whisper_of(name)
    config._attn_implementation = "eager"
    extractor = transformers.WhisperFeatureExtractor(feature_size=20, chunk_length=POSITIONS // 50)
    model = filled(transformers.WhisperForConditionalGeneration(config), 5)
    model.generation_config = generation
    model.save_pretrained(folder / "model")
    extractor.save_pretrained(folder / "model")
    tokenizer = tokenizer_of(SPOKEN + TIMES)
    tokenizer.save_pretrained(folder / "model")
    model = transformers.WhisperForConditionalGeneration.from_pretrained(folder / "model", attn_implementation="eager").eval()
    made, cases = {}, []
    for bands in (80, 128):
        for sound in ("short", "long"):
            full = transformers.WhisperFeatureExtractor(feature_size=bands)
            kept = full(samples(folder / f"{sound}.wav"), sampling_rate=RATE, return_tensors="pt", padding="longest")
            made[f"{sound}.{bands}"] = kept["input_features"][0].contiguous()
    save_file(made, folder / "features.safetensors")
    plans = [dict(sound="short"), dict(sound="short", timestamps=True), dict(sound="long")]
    if name != "whisper-english":
        plans += [dict(sound="other", language="de", task="translate"), dict(sound="long", language="fr"),
                  dict(sound="other", timestamps=True, task="transcribe", language="en", prompt="The fox, and")]
    for index, plan in enumerate(plans):
        cases.append(plan | transcript(model, extractor, tokenizer, folder, plan, steps, index == 0))
    (folder / "cases.json").write_text(json.dumps(cases))
    if name == "whisper":
        made = {one: streamed(model, extractor, samples(folder / f"{one}.wav"), steps) for one in ("short", "long")}
        (folder / "streams.json").write_text(json.dumps(made))
        made = {f"{one} {code}": words(model, extractor, tokenizer, samples(folder / f"{one}.wav"), code, steps)
                for one in ("short", "other", "middle", "brief") for code in ("en", "de", "fr")}
        (folder / "words.json").write_text(json.dumps(made))


def streamed(model, extractor, sound, steps):
    """The segments of sound that comes in steps of a fifteenth of a window, heard again from the last certain pair of timestamps on."""
    hop, window, first = 160, 2 * POSITIONS, ids(SPOKEN + TIMES)[TIMES[0]]
    segments, start, heard, ended = [], 0, 0, False
    while heard > start * hop or not ended:
        asked = max(min(window // 15 * hop, window * hop - (heard - start * hop)), 1)
        ended = heard + asked > len(sound)
        heard = min(heard + asked, len(sound))
        new = sound[start * hop : heard]
        if not len(new):
            break
        there = min(max(len(new) // hop, 1), window)
        features = extractor(new, sampling_rate=RATE, return_tensors="pt")["input_features"]
        made = model.generate(features, return_timestamps=True, language="fr", task="transcribe", max_new_tokens=steps,
                              do_sample=False, force_unique_generate_call=True)[0].tolist()
        tokens = [one for one in made if one != 2]
        while tokens and tokens[0] in map(ids(SPOKEN).get, SPOKEN):
            tokens = tokens[1:]
        times = [one - first if one >= first else None for one in tokens]
        pairs = [index for index, (one, other) in enumerate(zip(times, times[1:])) if None not in (one, other)]
        is_whole = ended or there >= window
        if not is_whole:
            pairs = [index for index in pairs if times[index] > 0 and 2 * times[index] + 50 <= there]
        frames = window if ended and start == 0 else there
        is_single = is_whole and times[-2:-1] == [None] and times[-1] is not None
        ends, begin, offset = [index + 1 for index in pairs], 0, frames
        if pairs and is_single:
            ends.append(len(tokens))
        elif pairs:
            ends[-1] += 1
            offset = 2 * times[ends[-1] - 2] or frames
        elif is_whole:
            last = next((one for one in reversed(times) if one), frames // 2)
            segments.append(dict(start=start / 100, end=start / 100 + last * 0.02, tokens=tokens))
        else:
            offset = 0
        for index, end in enumerate(ends):
            behind = end - 1 if index + 1 < len(ends) or is_single else end - 2
            at = [start / 100 + times[place] * 0.02 for place in (begin, behind)]
            segments.append(dict(start=at[0], end=at[1], tokens=tokens[begin:end]))
            begin = end
        start += min(offset, frames)
    return segments


def words(model, extractor, tokenizer, sound, language, steps):
    """The words of the segments of a window, with their times."""
    read = extractor(sound, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True)
    features = read["input_features"]
    options = dict(return_timestamps=True, language=language, task="transcribe", max_new_tokens=steps, do_sample=False)
    made = model.generate(features, return_token_timestamps=True, attention_mask=read["attention_mask"],
                          force_unique_generate_call=True, **options)
    prompt = 3
    tokens, times = made["sequences"][0, prompt:].tolist(), made["token_timestamps"][0, prompt:].tolist()
    first, found, begin = ids(SPOKEN + TIMES)[TIMES[0]], [], 0
    # In Whisper's vocabulary, text comes ahead of the end.
    plain = types.SimpleNamespace(decode=lambda tokens, **_: tokenizer.decode(tokens), eos_token_id=1 << 30)
    for segment in model.generate(features, return_segments=True, **options)["segments"][0]:
        end = begin + len(segment["tokens"])
        if tokens[begin:end] != segment["tokens"].tolist():
            break
        places = [place for place in range(begin, end) if tokens[place] < first]
        joined = tokenization_whisper._combine_tokens_into_words(plain, [tokens[place] for place in places], "french")
        for text, _, indices in zip(*joined):
            at = [places[indices[0]] - 1, places[indices[-1]]]
            found.append(dict(text=text, start=times[at[0]] if at[0] >= 0 else 0.0, end=times[at[1]]))
        begin = end
    return found


def transcript(model, extractor, tokenizer, folder, plan, steps, keeps):
    sound = samples(folder / f"{plan['sound']}.wav")
    longer = dict(padding="longest", truncation=False) if len(sound) > extractor.n_samples else {}
    features = extractor(sound, sampling_rate=RATE, return_tensors="pt", **longer)["input_features"]
    is_multilingual = model.generation_config.is_multilingual
    more = dict(task=plan.get("task", "transcribe"), language=plan.get("language")) if is_multilingual else {}
    detected = model.detect_language(features, num_segment_frames=2 * POSITIONS)[0] if is_multilingual else None
    if "prompt" in plan:
        before = tokenizer(" " + plan["prompt"], add_special_tokens=False, return_tensors="pt")["input_ids"][0]
        more["prompt_ids"] = torch.cat([torch.tensor([model.generation_config.prev_sot_token_id]), before])
    made = model.generate(features, return_timestamps=bool(plan.get("timestamps") or longer), return_segments=True,
                          max_new_tokens=steps, do_sample=False, **more)
    segments = [dict(start=float(one["start"]), end=float(one["end"]), tokens=one["tokens"].tolist())
                for one in made["segments"][0]]
    if keeps:
        again = model.generate(features, return_timestamps=False, max_new_tokens=steps, do_sample=False, output_logits=True,
                               return_dict_in_generate=True, force_unique_generate_call=True, **more)
        save_file({"logits": torch.cat(again.logits).contiguous()}, folder / "logits.safetensors")
    language = plan.get("language") or (SPOKEN[detected - ids(SPOKEN)["<|startoftranscript|>"]] if is_multilingual else None)
    return dict(segments=segments, heard=language and language.strip("<|>"))


def say(role, *parts):
    return dict(role=role, parts=[dict(sound=part[1:]) if part.startswith("@") else dict(text=part) for part in parts])


TALKS = [
    [say("user", "What is this?")],
    [say("user", "@short.wav", "What is this?")],
    [say("user", "@long.wav", "@other.wav", "Which is louder?")],
    [say("user", "@short.wav", "What is this?"), say("assistant", "a dog"), say("user", "Why, and ", "@other.wav", "?")],
]
MARKS = ["[INST]", "[/INST]", "[AUDIO]", "[BEGIN_AUDIO]"]


@torch.no_grad()
def voxtral(name, folder, steps):
    audio = dict(hidden_size=24, intermediate_size=96, num_hidden_layers=2, num_attention_heads=3, num_mel_bins=20,
                 max_source_positions=POSITIONS)
    text = transformers.LlamaConfig(**SMALL, tie_word_embeddings=False)
    config = transformers.VoxtralConfig(audio_config=audio, text_config=text.to_dict(), audio_token_id=ids(MARKS)["[AUDIO]"])
    config._attn_implementation = "eager"
    filled(transformers.VoxtralForConditionalGeneration(config), 6).save_pretrained(folder / "model")
    extractor = transformers.WhisperFeatureExtractor(feature_size=20, chunk_length=POSITIONS // 50)
    extractor.save_pretrained(folder / "model")
    tokenizer = tokenizer_of(MARKS)
    part = "{% if part.type == 'audio' %}[BEGIN_AUDIO][AUDIO]{% else %}{{ part.text }}{% endif %}"
    tokenizer.chat_template = ("<s>{% for message in messages %}{{ message.role }}: {% for part in message.content %}" + part +
                               "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}")
    tokenizer.save_pretrained(folder / "model")
    model = transformers.VoxtralForConditionalGeneration.from_pretrained(folder / "model", attn_implementation="eager").eval()
    cases = []
    for index, messages in enumerate(TALKS):
        tokens = talk(model, extractor, tokenizer, messages, folder, steps, folder / f"{index}.safetensors")
        cases.append(dict(messages=messages, tokens=tokens))
    (folder / "cases.json").write_text(json.dumps(cases))


def talk(model, extractor, tokenizer, messages, folder, steps, file):
    def part(part):
        return dict(type="audio") if "sound" in part else dict(type="text", text=part["text"])

    said = [dict(role=message["role"], content=[part(one) for one in message["parts"]]) for message in messages]
    text = tokenizer.apply_chat_template(said, add_generation_prompt=True, tokenize=False)
    windows = []
    for one in [one["sound"] for message in messages for one in message["parts"] if "sound" in one]:
        kept = extractor(samples(folder / one), sampling_rate=RATE, truncation=False, padding=True,
                         pad_to_multiple_of=extractor.n_samples, return_tensors="pt")["input_features"]
        windows.append(kept.reshape(20, -1, 2 * POSITIONS).transpose(0, 1))
        text = text.replace("[AUDIO]", "*" * (POSITIONS // 4 * len(windows[-1])), 1)
    text = text.replace("*", "[AUDIO]")
    read = dict(input_ids=tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"])
    if windows:
        read["input_features"] = torch.cat(windows)
    save_file(greedy(model, read, steps), file)
    return read["input_ids"][0].tolist()


@torch.no_grad()
def real(folder, steps):
    """The configuration of whisper-base with random weights."""
    known = SPOKEN
    config = transformers.WhisperConfig(
        vocab_size=51865, d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8,
        encoder_ffn_dim=2048, decoder_ffn_dim=2048, suppress_tokens=None, begin_suppress_tokens=None,
        decoder_start_token_id=50258)
    torch.manual_seed(7)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=50258, eos_token_id=50257, pad_token_id=50257, no_timestamps_token_id=50363, max_length=448,
        suppress_tokens=[50257], is_multilingual=True, lang_to_id={"<|en|>": 50259}, return_timestamps=False,
        task_to_id=dict(translate=50358, transcribe=50359))
    model.save_pretrained(folder / "model")
    extractor = transformers.WhisperFeatureExtractor()
    extractor.save_pretrained(folder / "model")
    tokenizer_of(known).save_pretrained(folder / "model")
    features = extractor(samples(folder / "long.wav"), sampling_rate=RATE, return_tensors="pt")["input_features"]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        made = model.generate(features, language="en", task="transcribe", max_new_tokens=steps, do_sample=False,
                              output_logits=True, return_dict_in_generate=True)
        times.append(time.perf_counter() - start)
    save_file({"logits": torch.cat(made.logits).contiguous()}, folder / "logits.safetensors")
    segments = [dict(start=0.0, end=0.0, tokens=made.sequences[0, -steps:].tolist())]
    cases = [dict(sound="long", language="en", segments=segments, heard="en")]
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "seconds.json").write_text(json.dumps(min(times)))


MODELS = {"whisper": whisper, "whisper-english": whisper, "voxtral": voxtral}

if __name__ == "__main__":
    is_real = sys.argv[1] == "--real"
    torch.set_num_threads(2 if is_real else 1)
    arguments = sys.argv[2:] if is_real else sys.argv[1:]
    for name in ["real"] if is_real else arguments[2:] or MODELS:
        folder = Path(arguments[0]) / name
        folder.mkdir(parents=True)
        sounds(folder)
        real(folder, int(arguments[1])) if is_real else MODELS[name](name, folder, int(arguments[1]))
