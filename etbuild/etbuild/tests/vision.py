"""Small models of random weights that read pictures, and what transformers computes with them.

    python vision.py FOLDER STEPS     writes FOLDER/NAME/model, FOLDER/NAME/cases.json, pictures, and a safetensors file of each case

A case has `messages`, each a role with parts, which are texts or the names of pictures, and `tokens`, those of the prompt. Its file
INDEX.safetensors has `prompt`, `prompt_logits`, `tokens` and `logits`, as those of families.py.
"""

import json
import sys
from pathlib import Path

import numpy
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from checkpoints import SMALL, greedy

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:?!<>/ \n"
TOWER = dict(hidden_size=40, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4, image_size=24, patch_size=4)
LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
GRID = ["<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>"] + [
    f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
SOFT = ["<start_of_image>", "<end_of_image>", "<image_soft_token>"]


def processor_of(name, kind, **keys):
    """The image processor without torchvision."""
    module = getattr(transformers.models, kind)
    return getattr(getattr(module, f"image_processing_pil_{kind}"), f"{name}ImageProcessorPil")(**keys)


def idefics3(config, text, **keys):
    made = transformers.Idefics3Config if config == "Idefics3" else transformers.SmolVLMConfig
    vision = TOWER | dict(model_type="idefics3_vision" if config == "Idefics3" else "smolvlm_vision")
    steps = processor_of("Idefics3", "idefics3", max_image_size=dict(longest_edge=24), **keys)

    def processor(tokenizer, template):
        return transformers.Idefics3Processor(steps, tokenizer, image_seq_len=9, chat_template=template)

    tied = text.tie_word_embeddings
    return made(text_config=text.to_dict(), vision_config=vision, scale_factor=2, image_token_id=ids(GRID)["<image>"],
                tie_word_embeddings=tied), GRID, {}, processor, "<image>"


def llava(text, tower, steps, special=("<image>",), **keys):
    layer = dict(vision_feature_select_strategy=keys.get("vision_feature_select_strategy", "default"))
    extra = int(isinstance(tower, transformers.CLIPVisionConfig))

    def processor(tokenizer, template):
        return transformers.LlavaProcessor(steps, tokenizer, patch_size=4, num_additional_image_tokens=extra,
                                           chat_template=template, **layer)

    config = transformers.LlavaConfig(text_config=text, vision_config=tower, image_token_index=ids(special)["<image>"], **keys)
    return config, list(special), {}, processor, "<image>"


def gemma3(text, **steps):
    steps = processor_of("Gemma3", "gemma3", size=dict(height=24, width=24), **steps)

    def processor(tokenizer, template):
        return transformers.Gemma3Processor(steps, tokenizer, image_seq_length=9, chat_template=template)

    known = ids(SOFT)
    config = transformers.Gemma3Config(text_config=text, vision_config=transformers.SiglipVisionConfig(**TOWER),
                                       mm_tokens_per_image=9, image_token_index=known["<image_soft_token>"],
                                       boi_token_index=known["<start_of_image>"], eoi_token_index=known["<end_of_image>"])
    names = dict(boi_token="<start_of_image>", eoi_token="<end_of_image>", image_token="<image_soft_token>")
    return config, SOFT, dict(extra_special_tokens=names), processor, "<start_of_image>"


PADS = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
PATCHES = dict(depth=3, num_heads=4, patch_size=4, spatial_merge_size=2, temporal_patch_size=2)
LEARNED = dict(hidden_size=48, intermediate_size=56, out_hidden_size=40, num_position_embeddings=36)
DELTA = dict(linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=12,
             layer_types=["linear_attention", "full_attention", "linear_attention"])


QWEN_TEXT = SMALL | dict(hidden_size=40, num_attention_heads=4, num_key_value_heads=2)
PROCESSORS = dict(Qwen2VL="Qwen2VLProcessor", Qwen2_5_VL="Qwen2_5_VLProcessor")


def qwen(name, size, tower, text, section=(2, 2, 1), **keys):
    steps = processor_of("Qwen2VL", "qwen2_vl", size=size, patch_size=4, merge_size=2, temporal_patch_size=2)

    class Processor(getattr(transformers, PROCESSORS.get(name, "Qwen3VLProcessor"))):
        """Without videos, whose processor needs torchvision. The files are those of published models."""

        def check_argument_for_proper_class(self, *_):
            pass

        def save_pretrained(self, folder):
            steps.save_pretrained(folder)
            (folder / "chat_template.json").write_text(json.dumps(dict(chat_template=self.chat_template)))

    def processor(tokenizer, template):
        return Processor(steps, tokenizer, None, chat_template=template)

    known, rope = ids(PADS), dict(rope_type="default", rope_theta=1e4, mrope_section=list(section))
    rope |= {key: keys.pop(key) for key in ["partial_rotary_factor"] if key in keys}
    text = QWEN_TEXT | dict(rope_parameters=rope) | text
    config = getattr(transformers, f"{name}Config")(
        text_config=text, vision_config=PATCHES | tower, image_token_id=known["<|image_pad|>"], video_token_id=known["<|video_pad|>"],
        vision_start_token_id=known["<|vision_start|>"], vision_end_token_id=known["<|vision_end|>"], **keys)
    names = dict(image_token="<|image_pad|>", video_token="<|video_pad|>")
    return config, PADS, dict(extra_special_tokens=names), processor, "<|vision_start|><|image_pad|><|vision_end|>"


BREAKS = ["[IMG]", "[IMG_BREAK]", "[IMG_END]"]


def mistral3(text, steps, **keys):
    known, side = ids(BREAKS), 4 * keys.get("spatial_merge_size", 2)
    steps = processor_of("Pixtral", "pixtral", patch_size=dict(height=4, width=4), **steps)

    class Processor:
        """As PixtralProcessor, which needs torchvision."""

        def __init__(self, tokenizer, template):
            self.tokenizer, self.template = tokenizer, template

        def save_pretrained(self, folder):
            steps.save_pretrained(folder)
            (folder / "chat_template.json").write_text(json.dumps(dict(chat_template=self.template)))

        def apply_chat_template(self, talk, **keys):
            return self.tokenizer.apply_chat_template(talk, chat_template=self.template, tokenize=False, **keys)

        def __call__(self, text, images, **keys):
            read = steps(images, return_tensors="pt", patch_size=dict(height=side, width=side)) if images else {}
            for height, width in read.get("image_sizes", torch.zeros(0, 2, dtype=int)).tolist():
                rows = ["<image>" * (width // side)] * (height // side)
                text = text.replace("[IMG]", "[IMG_BREAK]".join(rows) + "[IMG_END]", 1)
            return dict(read) | dict(self.tokenizer(text.replace("<image>", "[IMG]"), **keys))

    tower = dict(hidden_size=48, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4, patch_size=4, image_size=96)
    config = transformers.Mistral3Config(text_config=text, vision_config=dict(model_type="pixtral") | tower,
                                         image_token_index=known["[IMG]"], tie_word_embeddings=False, **keys)
    return config, BREAKS, {}, Processor, "[IMG]"


MARKS = ["<|image>", "<image|>", "<|image|>", "<|audio>", "<audio|>", "<|audio|>", "<|video|>"]


def gemma4(text, tower, audio=None, **steps):
    sizes = dict(patch_size=tower.get("patch_size", 4), pooling_kernel_size=tower.get("pooling_kernel_size", 2), max_soft_tokens=70)
    steps = processor_of("Gemma4", "gemma4", **sizes | steps)

    class Processor(transformers.Gemma4Processor):
        """Without videos and sound, whose processors need torchvision. The files are those of published models."""

        def check_argument_for_proper_class(self, *_):
            pass

        def save_pretrained(self, folder):
            (folder / "processor_config.json").write_text(json.dumps(dict(image_processor=steps.to_dict())))
            (folder / "chat_template.jinja").write_text(self.chat_template)

    def processor(tokenizer, template):
        return Processor(None, steps, tokenizer, None, chat_template=template)

    known = ids(MARKS)
    tower = dict(hidden_size=48, intermediate_size=56, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, head_dim=12,
                 patch_size=4, pooling_kernel_size=2, position_embedding_size=150) | tower
    text = SMALL | dict(head_dim=12, sliding_window=13, layer_types=LAYERS, global_head_dim=16) | text
    names = dict(zip(["boi_token", "eoi_token", "image_token", "boa_token", "eoa_token", "audio_token"], MARKS))
    numbers = {f"{name}_id": known[token] for name, token in names.items() if name != "eoa_token"}
    config = transformers.Gemma4Config(text_config=text, vision_config=tower, audio_config=audio, eoa_token_index=known["<audio|>"],
                                       video_token_id=known["<|video|>"], **numbers)
    return config, MARKS, dict(extra_special_tokens=names), processor, "<|image|>"


CACHED = dict(num_hidden_layers=5, vocab_size_per_layer_input=211, hidden_size_per_layer_input=8, num_kv_shared_layers=2,
              layer_types=LAYERS + LAYERS[:2], use_double_wide_mlp=True, pad_token_id=3)
MIXED = dict(hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=20,
             attention_k_eq_v=True, num_global_key_value_heads=1, use_bidirectional_attention="vision", final_logit_softcapping=5.0)


def shaped(height, width):
    return dict(size=dict(height=height, width=width))


def models_of():
    llama = transformers.LlamaConfig(**SMALL, tie_word_embeddings=False)
    clip = processor_of("CLIP", "clip", size=dict(shortest_edge=24), crop_size=dict(height=24, width=24))
    own = processor_of("Llava", "llava", size=dict(shortest_edge=28), crop_size=dict(height=24, width=24))
    siglip = processor_of("Siglip", "siglip", **shaped(24, 24))
    windows = SMALL | dict(head_dim=12, sliding_window=13, layer_types=LAYERS, query_pre_attn_scalar=10)
    return {
        "smolvlm": idefics3("SmolVLM", llama, size=dict(longest_edge=48)),
        "idefics3-whole": idefics3("Idefics3", transformers.LlamaConfig(**SMALL, tie_word_embeddings=True),
                                   size=dict(longest_edge=40), do_image_splitting=False),
        "llava-clip": llava(llama, transformers.CLIPVisionConfig(**TOWER), clip),
        "llava-crop": llava(transformers.MistralConfig(**SMALL, head_dim=10, sliding_window=13), transformers.CLIPVisionConfig(
            **TOWER, hidden_act="gelu"), own, vision_feature_layer=2, projector_hidden_act="silu"),
        "llava-siglip": llava(transformers.Qwen2Config(**SMALL), transformers.SiglipVisionConfig(**TOWER), siglip,
                              vision_feature_layer=-1, vision_feature_select_strategy="full", multimodal_projector_bias=False),
        "qwen2-vl": qwen("Qwen2VL", dict(shortest_edge=576, longest_edge=2048), dict(embed_dim=48, hidden_size=40, mlp_ratio=2), {}),
        "qwen2.5-vl": qwen("Qwen2_5_VL", dict(shortest_edge=1000, longest_edge=12000),
                           dict(hidden_size=48, intermediate_size=56, out_hidden_size=40, window_size=24, fullatt_block_indexes=[1]),
                           dict(use_sliding_window=True, sliding_window=21, max_window_layers=1)),
        # Features of the first and of the last layer, in another order in the list; pairs of three axes in turns.
        "qwen3-vl": qwen("Qwen3VL", dict(shortest_edge=576, longest_edge=6000), LEARNED | dict(deepstack_visual_indexes=[2, 0]),
                         dict(head_dim=16), section=(4, 2, 2)),
        "qwen3-vl-tied": qwen("Qwen3VL", dict(shortest_edge=1000, longest_edge=12000), LEARNED | dict(
            deepstack_visual_indexes=[1], num_position_embeddings=16, num_heads=2), dict(head_dim=20), section=(3, 4, 3),
            tie_word_embeddings=True),
        "qwen3.5": qwen("Qwen3_5", dict(shortest_edge=576, longest_edge=6000), LEARNED, DELTA | dict(head_dim=24),
                        section=(2, 2, 2), partial_rotary_factor=0.5),
        "qwen3.5-moe": qwen("Qwen3_5Moe", dict(shortest_edge=576, longest_edge=6000), LEARNED, DELTA | dict(
            head_dim=20, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, shared_expert_intermediate_size=32),
            section=(1, 2, 2), partial_rotary_factor=0.5, tie_word_embeddings=True),
        "qwen3-vl-moe": qwen("Qwen3VLMoe", dict(shortest_edge=576, longest_edge=6000), LEARNED | dict(deepstack_visual_indexes=[0, 1]),
                             dict(head_dim=16, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, mlp_only_layers=[1]),
                             section=(4, 2, 2)),
        "mistral3": mistral3(transformers.MistralConfig(**SMALL, head_dim=10, sliding_window=None), dict(size=dict(longest_edge=96))),
        "mistral3-bias": mistral3(transformers.MistralConfig(**SMALL, head_dim=12, sliding_window=41), dict(size=dict(longest_edge=40)),
                                  multimodal_projector_bias=True, projector_hidden_act="silu", spatial_merge_size=1),
        # As the smallest models: embeddings for each layer, layers that share KV caches, limits of projections; the audio encoder is left out.
        "gemma4": gemma4(CACHED, dict(use_clipped_linears=True), dict(
            hidden_size=24, num_hidden_layers=1, num_attention_heads=2, subsampling_conv_channels=[6, 4], output_proj_dims=20)),
        # As the mixture: the image tokens of a picture see each other in layers with a window.
        "gemma4-experts": gemma4(MIXED, dict(standardize=True, head_dim=16), do_normalize=True, image_mean=[0.1, 0.2, 0.3],
                                 image_std=[0.9, 1.0, 1.1], resample=2),
        "gemma4-mutual": gemma4(CACHED | dict(use_bidirectional_attention="vision", hidden_activation="gelu", sliding_window=200), dict(
            standardize=True, use_clipped_linears=True, num_key_value_heads=2, head_dim=8, patch_size=2, pooling_kernel_size=3,
            position_embedding_size=210, hidden_activation="silu", rope_parameters=dict(rope_type="axial", rope_theta=50.0))),
        "gemma3": gemma3(transformers.Gemma3TextConfig(**windows)),
        "gemma3-full": gemma3(transformers.Gemma3TextConfig(**windows | dict(layer_types=["full_attention"] * 3)), resample=3),
    }


def ids(special):
    return {token: index for index, token in enumerate(["<pad>", "<s>", "</s>", "<unk>", *LETTERS, *special])}


def tokenizer_of(special, more):
    """A tokenizer whose tokens are letters."""
    made = Tokenizer(models.WordLevel(ids(special), unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.decoder = decoders.Fuse()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>",
                                                pad_token="<pad>", **more)
    fast.add_special_tokens(dict(additional_special_tokens=special))
    return fast


def template_of(mark):
    part = "{% if part.type == 'image' %}" + mark + "{% else %}{{ part.text }}{% endif %}"
    return ("<s>{% for message in messages %}{{ message.role }}: {% for part in message.content %}" + part +
            "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}")


SHAPES = dict(wide=(30, 50), high=(67, 41), square=(24, 24), thin=(9, 70), ribbon=(8, 300), strip=(1, 250), glass=(33, 29))


def pictures(folder):
    """Pictures of several shapes: smooth ones, and noise; one is transparent on the left."""
    random = numpy.random.RandomState(3)
    for name, (height, width) in SHAPES.items():
        rows, columns = numpy.mgrid[0:height, 0:width]
        smooth = numpy.stack([rows * 255 / height, columns * 255 / width, (rows + columns) * 2 % 255], -1)
        noise = random.randint(-40, 40, smooth.shape)
        picture = Image.fromarray((smooth + noise).clip(0, 255).astype(numpy.uint8))
        if name == "glass":
            picture.putalpha(Image.fromarray((columns * 255 / width).astype(numpy.uint8)))
        picture.save(folder / f"{name}.png")


def say(role, *parts):
    return dict(role=role, parts=[dict(picture=part[1:]) if part.startswith("@") else dict(text=part) for part in parts])


CASES = [
    [say("user", "What is this?")],
    [say("user", "@wide.png", "What is this?")],
    [say("user", "Is ", "@high.png", " like ", "@square.png", "@thin.png", "?")],
    [say("user", "@wide.png", "What is this?"), say("assistant", "a dog"), say("user", "Why, and ", "@high.png", "?")],
    [say("system", "Be brief."), say("user", "@square.png", "@glass.png")],
]


def stack_experts(file, transposed):
    """Stores the matrices of all experts in two tensors, as published models do."""
    tensors, first = load_file(file), ".0.gate_proj.weight"
    for experts in [name.removesuffix(first) for name in list(tensors) if name.endswith(".experts" + first)]:
        count = sum(name.startswith(experts) and name.endswith(".gate_proj.weight") for name in tensors)
        gate, up, down = [torch.stack([tensors.pop(f"{experts}.{expert}.{part}_proj.weight") for expert in range(count)])
                          for part in ["gate", "up", "down"]]
        tensors |= {f"{experts}.gate_up_proj": torch.cat([gate, up], 1), f"{experts}.down_proj": down}
    if transposed:
        tensors |= {name: tensor.mT.contiguous() for name, tensor in tensors.items() if ".experts." in name}
    save_file(tensors, file, metadata=dict(format="pt"))


def written(name, folder, steps, parts):
    torch.manual_seed(5)
    config, special, more, processor, mark = parts
    config._attn_implementation = "eager"
    model = transformers.AutoModelForImageTextToText.from_config(config, dtype=torch.float32).eval()
    for key, parameter in model.named_parameters():
        # Gains are near 1; those of some families are stored less by one.
        is_gain, of_text = "norm" in key and "weight" in key, "language_model" in key and "linear_attn" not in key
        is_less = "gemma3" in name or ("qwen3.5" in name and of_text)
        mean = 1.0 if (is_gain and not is_less) or key.endswith("scale") else 0.0
        torch.nn.init.normal_(parameter, mean, 0.15)
    if name.startswith("gemma4"):
        # No answer has these tokens, which the model reads as the padding token.
        model.get_input_embeddings().weight.data[[config.image_token_id, config.audio_token_id, config.video_token_id]] = 0.0
    for key, buffer in model.named_buffers():
        # Factors, and limits, of which some clip nothing.
        if key.endswith(("layer_scalar", "std_bias", "std_scale")):
            buffer.add_(torch.randn_like(buffer) * 0.25)
        if key.endswith(("input_min", "output_min", "input_max", "output_max")) and "layers.2" not in key:
            buffer.copy_((torch.rand_like(buffer) * 0.5 + 1.0) * (-1.0 if key.endswith("min") else 1.0))
    folder.mkdir(parents=True)
    model.save_pretrained(folder / "model")
    if name.endswith("-moe"):
        stack_experts(folder / "model" / "model.safetensors", transposed=name == "qwen3-vl-moe")
    tokenizer = tokenizer_of(special, more)
    processor = processor(tokenizer, template_of(mark))
    processor.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    pictures(folder)
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder / "model", attn_implementation="eager").eval()
    cases = []
    for index, messages in enumerate(CASES):
        tokens = case(model, processor, messages, folder, steps, folder / f"{index}.safetensors")
        cases.append(dict(messages=messages, tokens=tokens))
    (folder / "cases.json").write_text(json.dumps(cases))


@torch.no_grad()
def case(model, processor, messages, folder, steps, file):
    def part(part):
        return dict(type="image") if "picture" in part else dict(type="text", text=part["text"])

    talk = [dict(role=message["role"], content=[part(one) for one in message["parts"]]) for message in messages]
    text = processor.apply_chat_template(talk, add_generation_prompt=True)
    names = [one["picture"] for message in messages for one in message["parts"] if "picture" in one]
    images = [Image.open(folder / name) for name in names]
    read = processor(text=text, images=images or None, return_tensors="pt", add_special_tokens=False)
    if "pixel_attention_mask" in read:
        assert read.pop("pixel_attention_mask").all()
    read.pop("attention_mask", None)
    if "image_grid_thw" not in read and "image_position_ids" not in read:
        read.pop("mm_token_type_ids", None)
    read.pop("num_crops", None)
    if not images:
        read.pop("token_type_ids", None)
    save_file(greedy(model, read, steps), file)
    # Tokens behind the rows of a picture are image tokens of the picture.
    known, tokens = ids(BREAKS), read["input_ids"][0].tolist()
    behind = [known[token] for token in BREAKS[1:]] if "image_sizes" in read else []
    return [known["[IMG]"] if token in behind else token for token in tokens]


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[3:] or models_of():
        written(name, Path(sys.argv[1]) / name, int(sys.argv[2]), models_of()[name])
