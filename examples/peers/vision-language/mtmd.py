#!/usr/bin/env python3
"""Vision and audio encoders in their real configurations with random weights: etbuild beside llama.cpp's mtmd, on the processor of this machine.

    mtmd.py --etbuild ETBUILD --llama LLAMA_CPP --mtmd LLAMA_MTMD_CLI --work FOLDER [--models gemma3,qwen2.5-vl,voxtral] [--layers 2]
            [--threads 2] [--rounds 3]

`LLAMA_CPP` is a checkout of llama.cpp, whose `convert_hf_to_gguf.py` converts the checkpoint; `LLAMA_MTMD_CLI` is the program of a build. Decoders
are cut to `--layers` layers and a small vocabulary, so that the times are those of pictures and sounds. The time is that from the picture or
sound to the first token: of etbuild with the decoding of the file, of mtmd the encoder and its tokens in the decoder, as it prints them. Weights of both have
16 bits. A round runs each program once, one after the other; the table has medians, and the peak of the resident memory, mapped weights included.
"""
import argparse
import json
import re
import subprocess
import sys
import wave
from pathlib import Path
from statistics import median

import numpy
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file

sys.path.append(str(Path(__file__).parent.parent / "language"))
from qwen3 import random_vocabulary, write_tokenizer

VOCABULARY = 32768
RATE = 16_000
GEMMA = ["<start_of_image>", "<end_of_image>", "<image_soft_token>"]
VOXTRAL = ["[AUDIO]", "[BEGIN_AUDIO]"]
QWEN = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
STARTER = "import resource, subprocess, sys; status = subprocess.run(sys.argv[1:]).returncode; " \
    "print(); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)"
# The converter asks which of the published tokenizers splits texts; the texts here are a few letters.
CONVERT = "import sys, runpy; sys.path[:0] = [{root!r}, {root!r} + '/gguf-py']; import conversion.base as base; " \
    "base.TextModel.get_vocab_base_pre = lambda self, tokenizer: 'qwen2'; " \
    "sys.argv[1:] = {words!r}; runpy.run_path({root!r} + '/convert_hf_to_gguf.py', run_name='__main__')"


def gemma3(layers, vocabulary):
    """Gemma 3 4B: SigLIP with 896 x 896 pixels, 256 image tokens."""
    start, end, soft = range(vocabulary, vocabulary + 3)
    text = dict(hidden_size=2560, intermediate_size=10240, num_attention_heads=8, num_key_value_heads=4, head_dim=256, sliding_window=1024,
                query_pre_attn_scalar=256, num_hidden_layers=layers, max_position_embeddings=8192,
                # The converter counts the tokens of beginning, end and padding twice, and cuts the embedding to the count.
                vocab_size=vocabulary + 6)
    vision = dict(hidden_size=1152, intermediate_size=4304, num_hidden_layers=27, num_attention_heads=16, image_size=896, patch_size=14,
                  vision_use_head=False)
    config = transformers.Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=256, image_token_index=soft,
                                       boi_token_index=start, eoi_token_index=end)
    steps = dict(image_processor_type="Gemma3ImageProcessor", do_convert_rgb=None, do_normalize=True, do_pan_and_scan=None, do_rescale=True,
                 do_resize=True, image_mean=[0.5] * 3, image_std=[0.5] * 3, image_seq_length=256, resample=2, rescale_factor=1 / 255,
                 size=dict(height=896, width=896), processor_class="Gemma3Processor")
    names = dict(boi_token=GEMMA[0], eoi_token=GEMMA[1], image_token=GEMMA[2])
    return config, steps, GEMMA, names, ("image", GEMMA[0])


def qwen(layers, vocabulary):
    """Qwen2.5-VL-3B: patches of 14 x 14 pixels in windows, an image token for four patches."""
    # The tokenizer adds named tokens ahead of the others.
    image, video, start, end = range(vocabulary, vocabulary + 4)
    rope = dict(rope_type="default", rope_theta=1e6, mrope_section=[16, 24, 24])
    text = dict(hidden_size=2048, intermediate_size=11008, num_attention_heads=16, num_key_value_heads=2, num_hidden_layers=layers,
                vocab_size=vocabulary + 64, rope_parameters=rope, max_position_embeddings=8192, tie_word_embeddings=True)
    vision = dict(depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, patch_size=14, spatial_merge_size=2, temporal_patch_size=2,
                  window_size=112, fullatt_block_indexes=[7, 15, 23, 31], out_hidden_size=2048)
    config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=vision, image_token_id=image, video_token_id=video,
                                           vision_start_token_id=start, vision_end_token_id=end, tie_word_embeddings=True)
    steps = dict(image_processor_type="Qwen2VLImageProcessor", image_mean=[0.48145466, 0.4578275, 0.40821073],
                 image_std=[0.26862954, 0.26130258, 0.27577711], max_pixels=1280 * 784, min_pixels=3136, merge_size=2, patch_size=14,
                 temporal_patch_size=2, processor_class="Qwen2_5_VLProcessor")
    names = dict(image_token=QWEN[2], video_token=QWEN[3])
    return config, steps, QWEN, names, ("image", f"{QWEN[0]}{QWEN[2]}{QWEN[1]}")


def voxtral(layers, vocabulary):
    """Voxtral Mini 3B: the encoder of Whisper large, 375 audio tokens for a window of 30 seconds."""
    text = dict(model_type="llama", hidden_size=3072, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=8, head_dim=128,
                num_hidden_layers=layers, vocab_size=vocabulary + 8, max_position_embeddings=8192, rms_norm_eps=1e-5,
                rope_parameters=dict(rope_type="default", rope_theta=1e8))
    audio = dict(hidden_size=1280, intermediate_size=5120, num_hidden_layers=32, num_attention_heads=20, num_mel_bins=128)
    config = transformers.VoxtralConfig(audio_config=audio, text_config=text, audio_token_id=vocabulary)
    steps = dict(feature_extractor_type="WhisperFeatureExtractor", feature_size=128, sampling_rate=16000, hop_length=160, n_fft=400,
                 chunk_length=30, n_samples=480000, nb_max_frames=3000, padding_side="right", padding_value=0.0,
                 processor_class="VoxtralProcessor")
    return config, steps, VOXTRAL, dict(audio_token=VOXTRAL[0]), ("audio", f"{VOXTRAL[1]}{VOXTRAL[0]}")


MODELS = {"gemma3": gemma3, "qwen2.5-vl": qwen, "voxtral": voxtral}


def write_checkpoint(folder, made, vocabulary):
    config, steps, special, names, (kind, mark) = made
    torch.manual_seed(5)
    torch.set_default_dtype(torch.bfloat16)
    model = transformers.AutoModelForImageTextToText if kind == "image" else transformers.VoxtralForConditionalGeneration
    model = model.from_config(config) if kind == "image" else model(config)
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder, max_shard_size="100GB")
    if kind == "image":
        name_as_published(folder / "model.safetensors")
    write_tokenizer(folder, random_vocabulary(vocabulary))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), bos_token="!", eos_token="\"", pad_token="#",
                                                extra_special_tokens=names)
    fast.add_special_tokens(dict(additional_special_tokens=special))
    part = "{% if part.type == '" + kind + "' %}" + mark + "{% else %}{{ part.text }}{% endif %}"
    fast.chat_template = ("{% for message in messages %}{{ message.role }}: {% if message.content is string %}{{ message.content }}{% else %}"
                          "{% for part in message.content %}" + part + "{% endfor %}{% endif %}\n{% endfor %}"
                          "{% if add_generation_prompt %}assistant:{% endif %}")
    fast.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(steps))
    (folder / "processor_config.json").write_text(json.dumps(dict(processor_class=steps["processor_class"], image_seq_length=256)))


def name_as_published(path):
    """Gives tensors of a tower the names of the published checkpoints, which the converter reads."""
    tensors = load_file(path)
    tower = "vision_tower."
    old = lambda name: f"{tower}vision_model.{name.removeprefix(tower)}" if name.startswith(tower) and "vision_model" not in name else name
    save_file({old(name): tensor for name, tensor in tensors.items()}, path, metadata=dict(format="pt"))


def write_picture(path):
    rows, columns = numpy.mgrid[0:448, 0:672]
    smooth = numpy.stack([rows * 255 / 448, columns * 255 / 672, (rows + columns) % 255], -1)
    Image.fromarray(smooth.astype(numpy.uint8)).save(path)


def write_sound(path):
    """20 seconds of a tone that rises; gives the samples."""
    seconds = numpy.arange(20 * RATE) / RATE
    samples = (0.3 * numpy.sin(2 * numpy.pi * (200 + 40 * seconds) * seconds) * 32767).astype(numpy.int16)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return samples


def convert(llama, folder, path, *more):
    words = [str(folder), "--outfile", str(path), "--outtype", "f16", *more]
    subprocess.run([sys.executable, "-c", CONVERT.format(root=str(llama.resolve()), words=words)], check=True, stdout=subprocess.DEVNULL)


def ran(words):
    """What a command prints, and the peak of its memory in MiB."""
    # Linux counts the memory of a process that starts another one for that one too, so a small process starts the command.
    starter = [sys.executable, "-S", "-c", STARTER]
    process = subprocess.run([*starter, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    told, _, peak = process.stdout.rstrip().rpartition("\n")
    if process.returncode:
        raise SystemExit(f"{words[0]}: status {process.returncode}\n{told}")
    return told, int(peak) / 1024


def deploy(etbuild, work, name, tokens):
    recipe = work / f"{name}.yaml"
    recipe.write_text(f"etbuild: 1\nname: {name}\nmodel: {{ checkpoint: {(work / name).resolve()} }}\n"
                      f"export: {{ context: 1024, {tokens} }}\ntargets: [linux-x86_64]\n")
    subprocess.run([etbuild, "build", recipe, "--out", work / "out"], check=True, stdout=subprocess.DEVNULL)
    return work / "out" / name / "linux-x86_64" / name


def time_etbuild(binary, media, threads):
    told, memory = ran([binary, *media, "--prompt", "abc", "--chat", "--temperature", "0", "--max-new-tokens", "2", "--stats",
                        "--threads", threads])
    return float(re.search(r"first token ([\d.]+) ms", told)[1]), memory


def time_mtmd(program, text, encoder, media, threads):
    told, memory = ran([program, "-m", text, "--mmproj", encoder, *media, "-p", "abc", "-n", "2", "-t", threads, "-c", "1024",
                        "--temp", "0", "-ngl", "0", "--no-mmproj-offload", "--chat-template", "chatml"])
    times = re.findall(r"(?:encoded|encoding done|decoded \(batch \d+/\d+\)) in (\d+) ms", told)
    assert times, told
    return float(sum(map(int, times))), memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etbuild", required=True)
    parser.add_argument("--llama", required=True, type=Path)
    parser.add_argument("--mtmd", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    picture, sound = work / "picture.png", work / "sound.wav"
    write_picture(picture)
    write_sound(sound)
    print("| model | picture or sound to first token, ms: etbuild | mtmd | ratio | memory, MiB: etbuild | mtmd | ratio |\n|---|---|---|---|---|---|---|")
    for name in arguments.models.split(","):
        folder, text, encoder = work / name, work / f"{name}.gguf", work / f"mmproj-{name}.gguf"
        if not encoder.exists():
            write_checkpoint(folder, MODELS[name](arguments.layers, VOCABULARY), VOCABULARY)
            convert(arguments.llama, folder, text)
            convert(arguments.llama, folder, encoder, "--mmproj")
        media = ["--audio", sound] if name == "voxtral" else ["--image", picture]
        binary = deploy(arguments.etbuild, work, name, "image_tokens: 384" if name.startswith("qwen") else "prefill: [256]")
        rounds = [(time_etbuild(binary, media, arguments.threads), time_mtmd(arguments.mtmd, text, encoder, media, arguments.threads))
                  for _ in range(arguments.rounds)]
        ours, theirs = ([median(numbers) for numbers in zip(*kind)] for kind in zip(*rounds))
        cells = [f"{own:.0f} | {other:.0f} | {own / other:.2f}" for own, other in zip(ours, theirs)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
