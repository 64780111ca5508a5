//! Vision encoders: a tower of layers over the patches of a tile, and a projector to the width of the decoder.

use crate::Activation;

/// The module of the tower. Checkpoints have several names for the module.
pub const TOWER: &str = "vision.tower";
/// The module of the projector.
pub const PROJECTOR: &str = "vision.projector";

/// The names of modules in checkpoints, and the names here.
const MODULES: &[(&str, &str)] = &[
    ("model.visual.merger.", "vision.projector."),
    ("model.visual.deepstack_merger_list.", "vision.projector.deepstack."),
    ("model.visual.", "vision.tower."),
    ("visual.merger.", "vision.projector."),
    ("visual.", "vision.tower."),
    ("language_model.lm_head.", "lm_head."),
    ("language_model.model.", "model."),
    ("model.language_model.", "model."),
    ("model.text_model.", "model."),
    ("model.vision_model.", "vision.tower."),
    ("model.vision_tower.vision_model.", "vision.tower."),
    ("model.vision_tower.", "vision.tower."),
    ("vision_tower.vision_model.", "vision.tower."),
    ("vision_tower.", "vision.tower."),
    ("model.connector.", "vision.projector."),
    ("model.multi_modal_projector.", "vision.projector."),
    ("multi_modal_projector.", "vision.projector."),
];

/// The name here of a tensor in a checkpoint.
pub fn canonical(name: &str) -> String {
    super::renamed(MODULES, name)
}

/// A vision encoder (LLaVA, Liu et al. 2023).
#[derive(Clone, Debug, PartialEq)]
pub struct Vision {
    /// The encoder.
    pub encoder: VisionEncoder,
    /// The image token in the vocabulary.
    pub token: u32,
    /// Whether the image tokens of a tile attend to each other in both directions.
    pub is_mutual: bool,
}

/// What makes image tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum VisionEncoder {
    /// A tower over tiles of one size, and a projector.
    Tiles(Tower, Projector),
    /// A tower over the patches of a picture of any size.
    Patches(Patches),
}

/// A tower over the patches of a picture of any size, which have places of two dimensions, and a network that makes an image token of each
/// square of patches (Qwen2-VL, Wang et al. 2024).
#[derive(Clone, Debug, PartialEq)]
pub struct Patches {
    /// The side of a patch in pixels.
    pub patch: usize,
    /// The side of a square in patches.
    pub square: usize,
    /// The frames of a patch. A picture is repeated.
    pub frames: usize,
    /// The elements of a patch between layers.
    pub width: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The layers.
    pub layers: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The base of the wavelengths of rotary position embedding.
    pub theta: f64,
    /// Whether the wavelengths of columns are between those of rows, instead of the same (Pixtral).
    pub has_wavelengths_between: bool,
    /// The epsilon of every normalization in the tower.
    pub epsilon: f64,
    /// Whether layers have RMSNorm and feed-forward networks with a gate, in place of LayerNorm and networks without a gate (Qwen2.5-VL).
    pub is_gated: bool,
    /// The windows, if any.
    pub windows: Option<Windows>,
    /// Whether the embedding of patches has biases.
    pub has_bias: bool,
    /// Whether the projections of layers have biases.
    pub has_biases: bool,
    /// The side of a square table of learned position embeddings, which pictures of other sizes interpolate; `None` for no table.
    pub table: Option<usize>,
    /// The layers, in ascending order, each with the number of its projector: behind the first layers of the decoder, image tokens get what the
    /// projectors make of the states behind these layers (DeepStack, Meng et al. 2024).
    pub deep: Vec<[usize; 2]>,
    /// The projector.
    pub projector: PatchProjector,
    /// The names of modules.
    pub names: &'static PatchNames,
}

/// What makes image tokens of squares of patches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatchProjector {
    /// Two layers over the patches of a square side by side (Qwen2-VL).
    Squares,
    /// A matrix makes one patch of a square, and two layers follow; each row of image tokens ends with a token of the vocabulary (Mistral 3).
    Merged {
        /// The activation between the layers.
        activation: Activation,
        /// Whether the layers have biases.
        has_biases: bool,
        /// The epsilon of the normalization ahead.
        epsilon: f64,
    },
}

/// The names of modules of a tower over patches, and of its projector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchNames {
    /// The embedding of patches.
    pub embedding: &'static str,
    /// The normalization ahead of the layers, if any.
    pub ahead: Option<&'static str>,
    /// The list of layers.
    pub layers: &'static str,
    /// The normalizations ahead of attention and of the feed-forward network.
    pub norms: [&'static str; 2],
    /// Attention.
    pub attention: &'static str,
    /// The projections to queries, keys and values; one, or one for each.
    pub inputs: &'static [&'static str],
    /// The projection behind attention.
    pub output: &'static str,
    /// The feed-forward network.
    pub network: &'static str,
    /// The two projections of a feed-forward network without a gate.
    pub projections: [&'static str; 2],
    /// The normalization of the projector.
    pub norm: &'static str,
    /// The two projections of the projector.
    pub projector: [&'static str; 2],
}

impl PatchNames {
    /// Qwen2-VL and Qwen2.5-VL.
    pub const QWEN2: Self = Self {
        embedding: "patch_embed.proj",
        ahead: None,
        layers: "blocks",
        norms: ["norm1", "norm2"],
        attention: "attn",
        inputs: &["qkv"],
        output: "proj",
        network: "mlp",
        projections: ["fc1", "fc2"],
        norm: "ln_q",
        projector: ["mlp.0", "mlp.2"],
    };
    /// Qwen3-VL and Qwen 3.5.
    pub const QWEN3: Self = Self {
        projections: ["linear_fc1", "linear_fc2"],
        norm: "norm",
        projector: ["linear_fc1", "linear_fc2"],
        ..Self::QWEN2
    };
    /// Pixtral, before Mistral 3.
    pub const PIXTRAL: Self = Self {
        embedding: "patch_conv",
        ahead: Some("ln_pre"),
        layers: "transformer.layers",
        norms: ["attention_norm", "ffn_norm"],
        attention: "attention",
        inputs: &["q_proj", "k_proj", "v_proj"],
        output: "o_proj",
        network: "feed_forward",
        norm: "norm",
        projector: ["linear_1", "linear_2"],
        ..Self::QWEN2
    };
}

/// Layers in which a patch sees the patches of a window only.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// The side of a window in squares.
    pub side: usize,
    /// The layers in which a patch sees all patches.
    pub whole: Vec<usize>,
}

impl Patches {
    /// The numbers of a patch: those of three channels and all frames.
    pub const fn numbers(&self) -> usize {
        3 * self.frames * self.patch * self.patch
    }

    /// Whether a token of the vocabulary is behind each row of image tokens.
    pub const fn has_breaks(&self) -> bool {
        matches!(self.projector, PatchProjector::Merged { .. })
    }

    /// The elements of a head.
    pub const fn depth(&self) -> usize {
        self.width / self.heads
    }

    /// Whether a patch sees the patches of a window only, in a layer.
    pub fn sees_window(&self, layer: usize) -> bool {
        self.windows.as_ref().is_some_and(|windows| !windows.whole.contains(&layer))
    }
}

/// Layers of attention and feed-forward networks over the patches of a tile: each patch attends to all patches (ViT, Dosovitskiy et al.
/// 2020).
#[derive(Clone, Debug, PartialEq)]
pub struct Tower {
    /// The side of a tile in pixels.
    pub side: usize,
    /// The side of a patch in pixels.
    pub patch: usize,
    /// The elements of a patch between layers.
    pub width: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The layers that are computed.
    pub layers: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The epsilon of LayerNorm.
    pub epsilon: f64,
    /// Whether a token for the whole tile comes first and LayerNorm ahead of the layers, and patches have no bias (CLIP).
    pub is_clip: bool,
    /// Whether LayerNorm is behind the layers.
    pub has_norm_behind: bool,
    /// Whether the first token is left out behind the layers.
    pub drops_first: bool,
}

impl Tower {
    /// The patches of a side.
    pub const fn patches(&self) -> usize {
        self.side / self.patch
    }

    /// The tokens between layers: the patches, and perhaps the token for the whole tile.
    pub fn positions(&self) -> usize {
        self.patches() * self.patches() + usize::from(self.is_clip)
    }

    /// The tokens behind the layers.
    pub fn tokens(&self) -> usize {
        self.positions() - usize::from(self.drops_first)
    }
}

/// How tokens of the tower become image tokens of the decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projector {
    /// The patches of a square of this side become one token, then a linear layer (pixel shuffle, Idefics3).
    Shuffle {
        /// The side of the square in patches.
        factor: usize,
    },
    /// Two linear layers (LLaVA 1.5).
    Network {
        /// The activation between.
        activation: Activation,
        /// Whether the layers have biases.
        has_biases: bool,
    },
    /// The means of squares of patches, RMSNorm, a matrix (Gemma 3).
    Pool {
        /// The image tokens of a side.
        side: usize,
    },
}

impl Tower {
    /// The image tokens of a tile.
    pub fn image_tokens(&self, projector: Projector) -> usize {
        match projector {
            Projector::Shuffle { factor } => self.tokens() / (factor * factor),
            Projector::Network { .. } => self.tokens(),
            Projector::Pool { side } => side * side,
        }
    }
}

impl Vision {
    /// The image tokens of a tile; `None` where pictures have several sizes.
    pub fn tile(&self) -> Option<usize> {
        match &self.encoder {
            VisionEncoder::Tiles(tower, projector) => Some(tower.image_tokens(*projector)),
            VisionEncoder::Patches(_) => None,
        }
    }

    /// The numbers of an image token for a decoder of this width: the embedding, and what the first layers add.
    pub fn token_width(&self, width: usize) -> usize {
        match &self.encoder {
            VisionEncoder::Tiles(..) => width,
            VisionEncoder::Patches(tower) => width * (1 + tower.deep.len()),
        }
    }

    /// Whether the program needs no tensor of this name: parts behind the last layer that is computed.
    pub fn is_unused(&self, name: &str) -> bool {
        let VisionEncoder::Tiles(tower, _) = &self.encoder else { return false };
        let Some(rest) = name.strip_prefix(TOWER).and_then(|rest| rest.strip_prefix('.')) else { return false };
        let layer = rest.strip_prefix("encoder.layers.").and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        rest.starts_with("head.")
            || rest.ends_with("position_ids")
            || (!tower.has_norm_behind && rest.starts_with("post_layernorm."))
            || layer.is_some_and(|layer| layer >= tower.layers)
    }
}
