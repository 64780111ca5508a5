#!/usr/bin/env python3
"""Whisper's real configurations with random weights: etbuild beside whisper.cpp, on the processor of this machine.

    whisper.py --etbuild ETBUILD --bench WHISPER_BENCH --work FOLDER [--sizes base,small] [--threads 1,2] [--rounds 5]
    whisper.py --etbuild ETBUILD --logits --work FOLDER [--sizes base,small]

`WHISPER_BENCH` is `whisper-bench` of a build of whisper.cpp, which times the encoder on a window of 30 seconds and 256 steps of the decoder.
etbuild transcribes a window of 30 seconds by 129 tokens, features included. The weights of whisper.cpp are in fp16, those of etbuild in
the forms of FORMS. A round times each once, one after the other; the table has medians over the rounds, their ratio, and the peak of the
resident memory, mapped weights included.

`--logits` compares the logits of eight steps with those of transformers in float32, with the same fp16 weights.
"""
import argparse
import re
import struct
import subprocess
import sys
import wave
from pathlib import Path
from statistics import median

import numpy
import torch
import transformers
from tokenizers import Tokenizer, decoders, models
from safetensors.torch import load_file
from transformers.audio_utils import mel_filter_bank

sys.path.append(str(Path(__file__).parent.parent / "vision-language"))
from mtmd import ran

# Width, heads, layers of the encoder and of the decoder, mel bands, vocabulary.
SIZES = {
    "base": (512, 8, 6, 6, 80, 51865),
    "small": (768, 12, 12, 12, 80, 51865),
    "large-v3-turbo": (1280, 20, 32, 4, 128, 51866),
    "large-v3": (1280, 20, 32, 32, 128, 51866),
}
FORMS = {"float32": "", "float16": "", "int8-weights": "quantize: { scheme: int8-weights }\n"}
STEPS = 128
# Names of whisper.cpp for those of transformers.
RENAMED = {
    "self_attn.k_proj": "attn.key", "self_attn.q_proj": "attn.query", "self_attn.v_proj": "attn.value", "self_attn.out_proj": "attn.out",
    "self_attn_layer_norm": "attn_ln", "encoder_attn.k_proj": "cross_attn.key", "encoder_attn.q_proj": "cross_attn.query",
    "encoder_attn.v_proj": "cross_attn.value", "encoder_attn.out_proj": "cross_attn.out", "encoder_attn_layer_norm": "cross_attn_ln",
    "fc1": "mlp.0", "fc2": "mlp.2", "final_layer_norm": "mlp_ln",
}
OTHERS = {
    "encoder.layer_norm": "encoder.ln_post", "encoder.embed_positions": "encoder.positional_embedding", "decoder.layer_norm": "decoder.ln",
    "decoder.embed_positions": "decoder.positional_embedding", "decoder.embed_tokens": "decoder.token_embedding",
}


def model_of(size):
    width, heads, encoder, decoder, bands, vocabulary = SIZES[size]
    end = 50257
    config = transformers.WhisperConfig(
        vocab_size=vocabulary, d_model=width, encoder_layers=encoder, decoder_layers=decoder, encoder_attention_heads=heads,
        decoder_attention_heads=heads, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, num_mel_bins=bands, suppress_tokens=None,
        begin_suppress_tokens=None, decoder_start_token_id=end + 1, max_length=448)
    torch.manual_seed(7)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    shift = vocabulary - 51865
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=end + 1, eos_token_id=end, pad_token_id=end, no_timestamps_token_id=50363 + shift, max_length=448,
        suppress_tokens=[end], is_multilingual=True, lang_to_id={"<|en|>": 50259}, return_timestamps=False,
        task_to_id=dict(translate=50358 + shift, transcribe=50359 + shift))
    return model


def write_checkpoint(model, folder):
    model.save_pretrained(folder)
    bands = model.config.num_mel_bins
    transformers.WhisperFeatureExtractor(feature_size=bands).save_pretrained(folder)
    made = Tokenizer(models.WordLevel({f"t{token}": token for token in range(model.config.vocab_size)}, unk_token="t0"))
    made.decoder = decoders.Fuse()
    made.save(str(folder / "tokenizer.json"))


def ggml_name(name):
    parts = name.removeprefix("model.").split(".")
    inner = ".".join(parts[3:-1])
    if parts[1] == "layers":
        return ".".join([parts[0], "blocks", parts[2], RENAMED[inner], parts[-1]])
    whole = ".".join(parts[:2])
    if "embed_positions" in whole:
        return OTHERS[whole]
    return f"{OTHERS.get(whole, whole)}.{parts[-1]}"


def write_ggml(model, path):
    """The format of whisper.cpp: sizes, mel filters, texts of tokens, tensors with matrices in fp16."""
    config = model.config
    with open(path, "wb") as file:
        ints = lambda *numbers: file.write(struct.pack(f"{len(numbers)}i", *numbers))
        ints(0x67676D6C, config.vocab_size, config.max_source_positions, config.d_model, config.encoder_attention_heads, config.encoder_layers,
             448, config.d_model, config.decoder_attention_heads, config.decoder_layers, config.num_mel_bins, 1)
        filters = mel_filter_bank(201, config.num_mel_bins, 0.0, 8000.0, 16000, norm="slaney", mel_scale="slaney").T
        ints(*filters.shape)
        file.write(filters.astype("<f4").tobytes())
        ints(50257)
        for token in range(50257):
            text = f"t{token}".encode()
            ints(len(text))
            file.write(text)
        for name, tensor in model.state_dict().items():
            if name == "proj_out.weight":
                continue
            name, data = ggml_name(name), tensor.float().numpy()
            if name.startswith("encoder.conv") and name.endswith("bias"):
                data = data.reshape(-1, 1)
            is_half = data.ndim >= 2 and "positional" not in name and not name.endswith("bias")
            ints(data.ndim, len(name), int(is_half))
            ints(*reversed(data.shape))
            file.write(name.encode())
            file.write(data.astype("<f2" if is_half else "<f4").tobytes())


def write_sound(path):
    at = numpy.arange(30 * 16000) / 16000
    sweep = 0.4 * numpy.sin(2 * numpy.pi * (200 + 100 * at) * at)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes((sweep * 32767).astype("<i2").tobytes())


def deploy(etbuild, work, size, form):
    name = f"{size}-{form}"
    recipe = work / f"{name}.yaml"
    checkpoint = (work / (name if form == "float16" else size)).resolve()
    recipe.write_text(f"etbuild: 1\nname: {name}\nmodel: {{ checkpoint: {checkpoint} }}\n{FORMS[form]}targets: [linux-x86_64]\n")
    subprocess.run([etbuild, "build", recipe, "--out", work / "out"], check=True)
    return work / "out" / name / "linux-x86_64" / name


def time_etbuild(binary, sound, threads):
    """Milliseconds of the features, the encoder and a first token, and of a step; MiB of memory."""
    told, memory = ran([binary, "--audio", sound, "--language", "en", "--threads", str(threads), "--temperature", "0", "--stats",
                "--max-new-tokens", str(STEPS + 1)])
    first, rate = re.search(r"first token ([\d.]+) ms; .* generated, ([\d.]+) a second", told).groups()
    return float(first), 1000 / float(rate), memory


def time_whisper(bench, model, threads):
    """Milliseconds of the encoder and a step, and of a step; MiB of memory."""
    told, memory = ran([bench, "-m", model, "-t", str(threads), "-ng"])
    encoder, step = (float(re.search(rf"{part} time = .*\(\s*([\d.]+) ms per run", told)[1]) for part in ("encode", "decode"))
    return encoder + step, step, memory


@torch.no_grad()
def apart(etbuild, work, size, sound):
    """The largest logit of eight steps, the largest difference from transformers, and how many likeliest tokens are the same."""
    binary, tokens, logits = deploy(etbuild, work, size, "float16"), work / "tokens.txt", work / "logits.safetensors"
    ran([binary, "--audio", sound, "--language", "en", "--temperature", "0", "--max-new-tokens", "8", "--tokens-out", tokens, "--logits", logits])
    model = transformers.WhisperForConditionalGeneration.from_pretrained(work / f"{size}-float16", dtype=torch.float32).eval()
    with wave.open(str(sound), "rb") as file:
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2") / numpy.float32(32768)
    extractor = transformers.WhisperFeatureExtractor(feature_size=model.config.num_mel_bins)
    features = extractor(samples, sampling_rate=16000, return_tensors="pt")["input_features"]
    start, known = model.config.decoder_start_token_id, model.generation_config
    prompt = [start, known.lang_to_id["<|en|>"], known.task_to_id["transcribe"], known.no_timestamps_token_id]
    new = [int(token) for token in tokens.read_text().split()]
    made = model(input_features=features, decoder_input_ids=torch.tensor([prompt + new[:-1]])).logits[0][-len(new):]
    found = load_file(logits)["logits"][-len(new):].clone()
    # etbuild never chooses the tokens that the model's makers suppress.
    for rows in (found, made):
        rows[:, known.suppress_tokens] = 0
    return made.abs().max().item(), (found - made).abs().max().item(), (found.argmax(-1) == made.argmax(-1)).sum().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--bench")
    parser.add_argument("--logits", action="store_true")
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--sizes", default="base,small")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    sound = work / "sound.wav"
    write_sound(sound)
    columns = [f"{what}: etbuild | whisper.cpp | ratio" for what in ("window and first token, ms", "step, ms", "memory, MiB")]
    heading = "| size | largest logit | largest difference | ratio | same token |\n|---|---|---|---|---|" if arguments.logits else (
        f"| size | weights | threads | {' | '.join(columns)} |\n{'|---' * 12}|")
    print(heading, flush=True)
    for size in arguments.sizes.split(","):
        ggml, half = work / f"{size}.bin", work / f"{size}-float16"
        lacks_ggml = bool(arguments.bench) and not ggml.exists()
        if lacks_ggml or not (half / "tokenizer.json").exists():
            model = model_of(size)
            if lacks_ggml:
                write_checkpoint(model, work / size)
                write_ggml(model, ggml)
            write_checkpoint(model.half(), half)
            del model
        if arguments.logits:
            largest, difference, same = apart(arguments.etbuild, work, size, sound)
            print(f"| {size} | {largest:.3f} | {difference:.2e} | {difference / largest:.1e} | {same} of 8 |", flush=True)
            continue
        binaries = {form: deploy(arguments.etbuild, work, size, form) for form in FORMS}
        for threads in map(int, arguments.threads.split(",")):
            times = [[time_whisper(arguments.bench, ggml, threads), *(time_etbuild(binary, sound, threads) for binary in binaries.values())]
                     for _ in range(arguments.rounds)]
            middle = [[median(numbers) for numbers in zip(*kind)] for kind in zip(*times)]
            for form, ours in zip(binaries, middle[1:]):
                cells = [f"{own:.1f} | {other:.1f} | {own / other:.2f}" for own, other in zip(ours, middle[0])]
                print(f"| {size} | {form} | {threads} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
