"""Small models of random weights that read pictures or hear, in GGUF with the encoder in a file beside, and what transformers computes.

    python gguf_encoders.py FOLDER STEPS [NAME ..]     writes FOLDER/NAME/model.gguf and FOLDER/NAME/mmproj.gguf beside what vision.py or hearing.py write

Names of tensors of encoders are those of the package `gguf`; their values and the metadata are as llama.cpp's converter writes them.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy
import transformers
from safetensors.numpy import load_file

import gguf_models
import hearing
import vision
from checkpoints import SMALL

GEMMA = SMALL | dict(head_dim=12, sliding_window=13, layer_types=vision.LAYERS, query_pre_attn_scalar=12)
QWEN = dict(shortest_edge=576, longest_edge=6000)


def pictured():
    """The models that read pictures: the architecture of the language model, the encoder, and the parts of vision.py."""
    llama = transformers.LlamaConfig(**SMALL, tie_word_embeddings=False)
    return {
        "gemma3": ("gemma3", "gemma3", vision.gemma3(transformers.Gemma3TextConfig(**GEMMA))),
        "smolvlm": ("llama", "idefics3", vision.idefics3("SmolVLM", llama, size=dict(longest_edge=48))),
        "qwen2-vl": ("qwen2vl", "qwen2vl_merger", vision.qwen("Qwen2VL", QWEN, dict(embed_dim=48, hidden_size=40, mlp_ratio=2), {})),
        "qwen2.5-vl": ("qwen2vl", "qwen2.5vl_merger", vision.qwen("Qwen2_5_VL", QWEN, dict(
            hidden_size=48, intermediate_size=56, out_hidden_size=40, window_size=112, fullatt_block_indexes=[1]), {})),
        "qwen3-vl": ("qwen3vl", "qwen3vl_merger", vision.qwen("Qwen3VL", QWEN, vision.LEARNED | dict(deepstack_visual_indexes=[0, 2]),
                                                              dict(head_dim=16), section=(4, 2, 2))),
    }


def heard():
    return {"voxtral": ("llama", "voxtral")}


def tokenizer(writer, folder):
    """The tokenizer in Hugging Face's form, with the texts and kinds of tokens."""
    own = json.loads((folder / "tokenizer.json").read_text())
    special = {token["id"]: token["content"] for token in own["added_tokens"]}
    texts = {index: text for text, index in own["model"]["vocab"].items()} | special
    count = max(SMALL["vocab_size"], max(texts) + 1)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([texts.get(index, f"[PAD{index}]") for index in range(count)])
    writer.add_token_types([3 if index in special else 1 for index in range(count)])
    writer.add_string("tokenizer.huggingface.json", json.dumps(own))
    template = [file for file in [folder / "chat_template.jinja", folder / "chat_template.json"] if file.exists()][0].read_text()
    writer.add_chat_template(template if "jinja" not in template and template.startswith("<s>") else json.loads(template)["chat_template"])
    ends = [index for index, text in texts.items() if text in ("</s>", "<|endoftext|>")]
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(ends[0])
    writer.add_add_bos_token(False)


def language(arch, config, tensors, folder, file):
    """The language model."""
    writer = gguf.GGUFWriter(file, arch)
    gguf_models.keys(writer, arch, config)
    if arch == "gemma3":
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])
    if arch.startswith("qwen"):
        writer.add_rope_dimension_sections([*config.rope_parameters["mrope_section"], 0])
    if arch == "qwen3vl":
        writer.add_num_deepstack_layers(2)
    tokenizer(writer, folder)
    for name, array in tensors.items():
        for place, changed in gguf_models.changed(arch, config, name, array):
            writer.add_tensor(place, numpy.ascontiguousarray(changed))
    finish(writer)


def frames(array):
    """The kernels of a convolution over frames, each by itself."""
    return [("v.patch_embd.weight" + (f".{frame}" if frame else ""), array[:, :, frame]) for frame in range(array.shape[2])]


def of_merger(name):
    """The name of a tensor of Qwen3-VL's projectors, but for the number of the layer."""
    module, _, ending = name.rpartition(".")
    kind = module.rpartition(".")[2]
    deep = {"linear_fc1": "fc1", "linear_fc2": "fc2", "norm": "norm"}
    if "deepstack" in name:
        return f"v.deepstack.{[0, 2][int(name.split('.')[-3])]}.{deep[kind]}.{ending}"
    return {"linear_fc1": "mm.0", "linear_fc2": "mm.2", "norm": "v.post_ln"}[kind] + "." + ending


def places(kind, name, array, names):
    """What the converter makes of a tensor of an encoder: pairs of names and arrays."""
    if "patch_embed.proj.weight" in name:
        return frames(array)
    if ".qkv." in name and kind != "qwen3vl_merger":
        parts = zip("qkv", numpy.split(array, 3))
        return [(names.get_name(name.replace("qkv", part), (".weight", ".bias")), rows) for part, rows in parts]
    if kind == "qwen3vl_merger" and "merger" in name:
        return [(of_merger(name), array)]
    if "soft_emb_norm" in name:
        array = array + 1
    if name.startswith("multi_modal_projector.linear"):
        name = f"audio.{name}"
    if name.startswith("vision_tower."):
        name = name.replace("vision_tower.", "vision_tower.vision_model.")
    if "conv" in name and name.endswith("bias"):
        array = array[:, None]
    return [(names.get_name(name.replace("_weight", ".weight"), (".weight", ".bias")), array)]


def encoder(kind, config, steps, tensors, file):
    """The encoder."""
    writer = gguf.GGUFWriter(file, "clip")
    writer.add_clip_projector_type(kind)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, 8)
    (sound if kind == "voxtral" else picture)(writer, kind, config, steps)
    for name, array in tensors.items():
        for place, changed in places(kind, name, array, names):
            assert place, name
            writer.add_tensor(place, numpy.ascontiguousarray(changed))
    finish(writer)


def picture(writer, kind, config, steps):
    tower, text = config.vision_config, config.text_config
    get = lambda *keys: next(getattr(tower, key) for key in keys if hasattr(tower, key))
    width = get("embed_dim", "hidden_size")
    writer.add_clip_has_vision_encoder(True)
    writer.add_vision_projection_dim(text.hidden_size)
    writer.add_vision_image_size(getattr(tower, "image_size", 560))
    writer.add_vision_patch_size(tower.patch_size)
    writer.add_vision_embedding_length(width)
    writer.add_vision_feed_forward_length(getattr(tower, "intermediate_size", text.hidden_size))
    writer.add_vision_block_count(get("depth", "num_hidden_layers"))
    writer.add_vision_head_count(get("num_heads", "num_attention_heads"))
    writer.add_vision_image_mean(steps["image_mean"])
    writer.add_vision_image_std(steps["image_std"])
    writer.add_vision_attention_layernorm_eps(1e-6)
    if kind == "qwen2.5vl_merger":
        writer.add_vision_use_silu(True)
        writer.add_vision_n_wa_pattern(tower.fullatt_block_indexes[0] + 1)
    elif kind != "qwen2vl_merger":
        writer.add_vision_use_gelu(True)
    if kind == "qwen3vl_merger":
        writer.add_vision_spatial_merge_size(tower.spatial_merge_size)
        writer.add_vision_is_deepstack_layers([layer in tower.deepstack_visual_indexes for layer in range(tower.depth)])
    if kind.startswith("qwen"):
        writer.add_uint32("clip.vision.image_min_pixels", QWEN["shortest_edge"])
        writer.add_uint32("clip.vision.image_max_pixels", QWEN["longest_edge"])
    if kind == "gemma3":
        writer.add_vision_projector_scale_factor(2)
    if kind == "idefics3":
        writer.add_vision_projector_scale_factor(config.scale_factor)
        writer.add_vision_preproc_image_size(steps["size"]["longest_edge"])


def sound(writer, _, config, steps):
    tower = config.audio_config
    writer.add_clip_has_audio_encoder(True)
    writer.add_audio_projection_dim(config.text_config.hidden_size)
    writer.add_audio_embedding_length(tower.hidden_size)
    writer.add_audio_feed_forward_length(tower.intermediate_size)
    writer.add_audio_block_count(tower.num_hidden_layers)
    writer.add_audio_head_count(tower.num_attention_heads)
    writer.add_audio_num_mel_bins(steps["feature_size"])
    writer.add_audio_attention_layernorm_eps(1e-5)
    writer.add_audio_stack_factor(4)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def is_of_text(name):
    return not any(part in name for part in ["visual.", "vision_", "multi_modal_projector", "connector", "audio_tower"])


def of_text(name):
    for start in ["model.language_model.", "language_model.model.", "model.text_model."]:
        name = name.replace(start, "model.")
    return name.replace("language_model.lm_head", "lm_head")


def converted(name, folder, arch, kind):
    """Writes both files of the model in a folder."""
    made, config = folder / "model", transformers.AutoConfig.from_pretrained(folder / "model")
    files = [file for file in [made / "processor_config.json", made / "preprocessor_config.json"] if file.exists()]
    steps = json.loads(files[0].read_text())
    steps = steps.get("image_processor", steps)
    tensors = load_file(made / "model.safetensors")
    text = {of_text(name): array for name, array in tensors.items() if is_of_text(name)}
    language(arch, config.text_config, text, made, folder / "model.gguf")
    # The converter leaves the head of SigLIP out, which nothing reads.
    rest = {name: array for name, array in tensors.items() if not is_of_text(name) and "vision_tower.head." not in name}
    others = {name.removeprefix("model.") if "visual" in name else name: array for name, array in rest.items()}
    encoder(kind, config, steps, others, folder / "mmproj.gguf")


if __name__ == "__main__":
    import torch
    torch.set_num_threads(1)
    for name in sys.argv[3:] or [*pictured(), *heard()]:
        folder, steps = Path(sys.argv[1]) / name, int(sys.argv[2])
        if name in heard():
            folder.mkdir(parents=True)
            hearing.sounds(folder)
            hearing.voxtral(name, folder, steps)
            converted(name, folder, *heard()[name])
        else:
            arch, kind, parts = pictured()[name]
            vision.written(name, folder, steps, parts)
            converted(name, folder, arch, kind)
