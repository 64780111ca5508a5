//! The tensors of encoders in GGUF under the names of modules.

/// What an encoder reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// Tiles of pictures, of one size.
    Tiles,
    /// Pictures of any size, by patches.
    Patches,
    /// Sound in prompts.
    Sound,
}

impl Media {
    /// The word of the medium in keys of the metadata.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Tiles | Self::Patches => "vision",
            Self::Sound => "audio",
        }
    }

    /// The keys of a configuration: of the encoder, and of the token in its place.
    pub const fn config(self) -> [&'static str; 2] {
        match self {
            Self::Tiles | Self::Patches => ["vision_config", "image_token_id"],
            Self::Sound => ["audio_config", "audio_token_id"],
        }
    }

    /// Keys of the metadata without an effect: what the file has, and sizes that tensors state.
    pub const fn keys(self) -> [&'static str; 3] {
        match self {
            Self::Tiles | Self::Patches => ["has_vision_encoder", "projector_type", "vision.projector_type"],
            Self::Sound => ["has_audio_encoder", "projector_type", "audio.projector_type"],
        }
    }
}

/// The names of a kind of encoder.
pub struct Names {
    /// The lists of modules.
    pub lists: &'static [List],
    /// The roles of the rest, and the modules.
    pub of_model: &'static [(&'static str, &'static str)],
}

/// The names of a list of modules.
pub struct List {
    /// The beginning of names in the file, ahead of the number.
    in_file: &'static str,
    /// The list here.
    here: &'static str,
    /// The roles, and the modules in a module of the list.
    roles: &'static [(&'static str, &'static str)],
    /// Whether the number in the file is that of a layer, and here the place among such layers.
    is_sparse: bool,
}

impl List {
    const fn of(in_file: &'static str, here: &'static str, roles: &'static [(&'static str, &'static str)]) -> Self {
        Self { in_file, here, roles, is_sparse: false }
    }
}

/// SigLIP behind the projector of Gemma 3, or of Idefics3.
pub const TILES: Names = Names {
    lists: &[List::of(
        "v.blk.",
        "vision.tower.encoder.layers",
        &[
            ("attn_k", "self_attn.k_proj"),
            ("attn_out", "self_attn.out_proj"),
            ("attn_q", "self_attn.q_proj"),
            ("attn_v", "self_attn.v_proj"),
            ("ffn_down", "mlp.fc2"),
            ("ffn_up", "mlp.fc1"),
            ("ln1", "layer_norm1"),
            ("ln2", "layer_norm2"),
        ],
    )],
    of_model: &[
        (POOLED, "vision.projector.mm_input_projection_weight"),
        ("mm.model.fc", "vision.projector.modality_projection.proj"),
        ("mm.soft_emb_norm", "vision.projector.mm_soft_emb_norm"),
        ("v.patch_embd", "vision.tower.embeddings.patch_embedding"),
        ("v.position_embd", "vision.tower.embeddings.position_embedding"),
        ("v.post_ln", "vision.tower.post_layernorm"),
    ],
};

/// Qwen2-VL.
pub const QWEN2: Names = Names {
    lists: &[List::of(
        "v.blk.",
        "vision.tower.blocks",
        &[
            ("attn_k", "attn.k"),
            ("attn_out", "attn.proj"),
            ("attn_q", "attn.q"),
            ("attn_v", "attn.v"),
            ("ffn_down", "mlp.fc2"),
            ("ffn_up", "mlp.fc1"),
            ("ln1", "norm1"),
            ("ln2", "norm2"),
        ],
    )],
    of_model: &[
        ("mm.0", "vision.projector.mlp.0"),
        ("mm.2", "vision.projector.mlp.2"),
        ("v.patch_embd", "vision.tower.patch_embed.proj"),
        ("v.post_ln", "vision.projector.ln_q"),
    ],
};

/// Qwen2.5-VL, whose networks have gates.
pub const QWEN2_5: Names = Names {
    lists: &[List::of(
        "v.blk.",
        "vision.tower.blocks",
        &[
            ("attn_k", "attn.k"),
            ("attn_out", "attn.proj"),
            ("attn_q", "attn.q"),
            ("attn_v", "attn.v"),
            ("ffn_down", "mlp.down_proj"),
            ("ffn_gate", "mlp.gate_proj"),
            ("ffn_up", "mlp.up_proj"),
            ("ln1", "norm1"),
            ("ln2", "norm2"),
        ],
    )],
    ..QWEN2
};

/// Qwen3-VL and Qwen 3.5.
pub const QWEN3: Names = Names {
    lists: &[
        List::of(
            "v.blk.",
            "vision.tower.blocks",
            &[
                ("attn_out", "attn.proj"),
                ("attn_qkv", "attn.qkv"),
                ("ffn_down", "mlp.linear_fc2"),
                ("ffn_up", "mlp.linear_fc1"),
                ("ln1", "norm1"),
                ("ln2", "norm2"),
            ],
        ),
        List {
            in_file: "v.deepstack.",
            here: "vision.projector.deepstack",
            roles: &[("fc1", "linear_fc1"), ("fc2", "linear_fc2"), ("norm", "norm")],
            is_sparse: true,
        },
    ],
    of_model: &[
        ("mm.0", "vision.projector.linear_fc1"),
        ("mm.2", "vision.projector.linear_fc2"),
        ("v.patch_embd", "vision.tower.patch_embed.proj"),
        ("v.position_embd", "vision.tower.pos_embed"),
        ("v.post_ln", "vision.projector.norm"),
    ],
};

/// Voxtral.
pub const SOUND: Names = Names {
    lists: &[List::of(
        "a.blk.",
        "hearing.tower.layers",
        &[
            ("attn_k", "self_attn.k_proj"),
            ("attn_out", "self_attn.out_proj"),
            ("attn_q", "self_attn.q_proj"),
            ("attn_v", "self_attn.v_proj"),
            ("ffn_down", "fc2"),
            ("ffn_up", "fc1"),
            ("ln1", "self_attn_layer_norm"),
            ("ln2", "final_layer_norm"),
        ],
    )],
    of_model: &[
        ("a.conv1d.1", "hearing.tower.conv1"),
        ("a.conv1d.2", "hearing.tower.conv2"),
        ("a.position_embd", "hearing.tower.embed_positions"),
        ("a.post_ln", "hearing.tower.layer_norm"),
        ("mm.a.mlp.1", "hearing.projector.linear_1"),
        ("mm.a.mlp.2", "hearing.projector.linear_2"),
    ],
};

/// The matrix of Gemma 3's projector, a tensor without a module.
const POOLED: &str = "mm.input_projection";

/// What the names of a file depend on besides the kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Whether the file has each projection of a feed-forward network under the name of the other, as files of early converters.
    pub is_swapped: bool,
    /// The layers with a projector of their own, in ascending order.
    pub deep: Vec<usize>,
}

/// The name here of a tensor, which stays as it is without a role that is known.
pub fn name(names: &Names, tensor: &str, variant: &Variant) -> String {
    let listed = names.lists.iter().find_map(|list| Some((list, tensor.strip_prefix(list.in_file)?)));
    let found = match listed {
        Some((list, rest)) => in_list(list, rest, variant),
        None => split(tensor).and_then(|(role, ending)| match (role, module(names.of_model, role)?) {
            (POOLED, whole) => Some(whole.to_owned()),
            (_, module) => Some(format!("{module}.{ending}")),
        }),
    };
    found.unwrap_or_else(|| tensor.to_owned())
}

/// The name of a tensor in a module of a list: number, role and ending.
fn in_list(list: &List, rest: &str, variant: &Variant) -> Option<String> {
    let (number, rest) = rest.split_once('.')?;
    let (role, ending) = rest.rsplit_once('.')?;
    let number: usize = number.parse().ok()?;
    let place = if list.is_sparse { variant.deep.iter().position(|layer| *layer == number)? } else { number };
    let module = module(list.roles, if variant.is_swapped { swapped(role) } else { role })?;
    Some(format!("{}.{place}.{module}.{ending}", list.here))
}

fn module(roles: &[(&str, &'static str)], role: &str) -> Option<&'static str> {
    roles.iter().find(|(known, _)| *known == role).map(|(_, module)| *module)
}

/// The role and the ending of a tensor. The weights of a second frame have a number behind.
fn split(tensor: &str) -> Option<(&str, &str)> {
    let weight = tensor.find(".weight.").map(|end| (&tensor[..end], &tensor[end + 1..]));
    weight.or_else(|| tensor.rsplit_once('.'))
}

fn swapped(role: &str) -> &str {
    match role {
        "ffn_down" => "ffn_up",
        "ffn_up" => "ffn_down",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_the_names_of_modules() {
        let variant = Variant { is_swapped: false, deep: vec![5, 11] };
        for (names, tensor, wanted) in [
            (&TILES, "v.blk.12.attn_out.bias", "vision.tower.encoder.layers.12.self_attn.out_proj.bias"),
            (&TILES, "mm.input_projection.weight", "vision.projector.mm_input_projection_weight"),
            (&QWEN2, "v.patch_embd.weight.1", "vision.tower.patch_embed.proj.weight.1"),
            (&QWEN2_5, "v.blk.0.ffn_gate.weight", "vision.tower.blocks.0.mlp.gate_proj.weight"),
            (&QWEN3, "v.deepstack.11.fc1.bias", "vision.projector.deepstack.1.linear_fc1.bias"),
            (&QWEN3, "v.deepstack.6.fc1.bias", "v.deepstack.6.fc1.bias"),
            (&SOUND, "a.conv1d.2.bias", "hearing.tower.conv2.bias"),
            (&SOUND, "a.blk.0.attn_k_rel.weight", "a.blk.0.attn_k_rel.weight"),
        ] {
            assert_eq!(name(names, tensor, &variant), wanted);
        }
        let swapped = Variant { is_swapped: true, deep: Vec::new() };
        assert_eq!(name(&TILES, "v.blk.0.ffn_down.weight", &swapped), "vision.tower.encoder.layers.0.mlp.fc1.weight");
    }
}
