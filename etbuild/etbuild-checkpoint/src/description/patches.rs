//! Vision encoders over the patches of a picture of any size.

use crate::Activation;

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
    /// The heads of queries.
    pub heads: usize,
    /// The heads of keys and values.
    pub key_heads: usize,
    /// The elements of a head.
    pub depth: usize,
    /// Whether heads are normalized, those of values without weights, so that scores have no factor (Gemma 4).
    pub has_head_norms: bool,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The layers.
    pub layers: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The base of the wavelengths of rotary position embedding.
    pub theta: f64,
    /// Which elements of a head turn by which wavelengths.
    pub turning: PatchTurning,
    /// The epsilon of every normalization in the tower.
    pub epsilon: f64,
    /// Whether layers have RMSNorm and feed-forward networks with a gate, in place of LayerNorm and networks without a gate (Qwen2.5-VL).
    pub is_gated: bool,
    /// The windows, if any.
    pub windows: Option<Windows>,
    /// Whether the embedding of patches is a matrix over pixels of three channels, instead of a convolution (Gemma 4).
    pub is_by_pixel: bool,
    /// Whether the embedding of patches has biases.
    pub has_bias: bool,
    /// Whether the projections of layers have biases.
    pub has_biases: bool,
    /// Whether the checkpoint has limits of the inputs and outputs of the layers' projections (Gemma 4).
    pub is_clipped: bool,
    /// The rows of each of two tables of learned position embeddings, of columns and of rows; `None` for no tables (Gemma 4).
    pub axes: Option<usize>,
    /// The image tokens of a picture without a request, if the model has a number of its own.
    pub usual: Option<u32>,
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
    /// The means of squares, times the root of the width, normalized without weights, and a matrix (Gemma 4).
    Pooled {
        /// Whether the checkpoint has numbers to subtract from the scaled means, and factors of the differences.
        is_standardized: bool,
    },
}

/// Which elements of a head of a tower over patches turn by which wavelengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchTurning {
    /// Pairs across both halves of a head, the first half of the pairs by rows and the second by columns, with the same wavelengths (Qwen2-VL).
    Across,
    /// The same, and the wavelengths of columns are between those of rows (Pixtral).
    Between,
    /// Pairs within each half of a head, in the first by columns and in the second by rows, with the same wavelengths (Gemma 4).
    Within,
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
    /// The normalizations behind attention and behind the feed-forward network, if any.
    pub behind: Option<[&'static str; 2]>,
    /// Attention.
    pub attention: &'static str,
    /// The projections to queries, keys and values: one name for a joint projection, or three names.
    pub inputs: &'static [&'static str],
    /// The projection behind attention.
    pub output: &'static str,
    /// The feed-forward network.
    pub network: &'static str,
    /// The two projections of a feed-forward network without a gate.
    pub projections: [&'static str; 2],
    /// The projections of a feed-forward network with a gate: gate, up and down.
    pub gated: [&'static str; 3],
    /// The normalization of the projector.
    pub norm: &'static str,
    /// The two projections of the projector. A projector with one matrix has the first name.
    pub projector: [&'static str; 2],
}

impl PatchNames {
    /// Qwen2-VL and Qwen2.5-VL.
    pub const QWEN2: Self = Self {
        embedding: "patch_embed.proj",
        ahead: None,
        layers: "blocks",
        norms: ["norm1", "norm2"],
        behind: None,
        attention: "attn",
        inputs: &["qkv"],
        output: "proj",
        network: "mlp",
        projections: ["fc1", "fc2"],
        gated: ["gate_proj", "up_proj", "down_proj"],
        norm: "ln_q",
        projector: ["mlp.0", "mlp.2"],
    };
    /// Qwen2-VL and Qwen2.5-VL in GGUF.
    pub const QWEN2_SPLIT: Self = Self { inputs: &["q", "k", "v"], ..Self::QWEN2 };
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
    /// Gemma 4.
    pub const GEMMA4: Self = Self {
        embedding: "patch_embedder.input_proj",
        layers: "encoder.layers",
        norms: ["input_layernorm", "pre_feedforward_layernorm"],
        behind: Some(["post_attention_layernorm", "post_feedforward_layernorm"]),
        attention: "self_attn",
        inputs: &["q_proj.linear", "k_proj.linear", "v_proj.linear"],
        output: "o_proj.linear",
        gated: ["gate_proj.linear", "up_proj.linear", "down_proj.linear"],
        projector: ["embedding_projection", ""],
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

    /// The elements of all heads of queries, and of all heads of keys or values.
    pub const fn heads_widths(&self) -> [usize; 2] {
        [self.heads * self.depth, self.key_heads * self.depth]
    }

    /// Whether a token of the vocabulary is behind each row of image tokens.
    pub const fn has_breaks(&self) -> bool {
        matches!(self.projector, PatchProjector::Merged { .. })
    }

    /// Whether a patch sees the patches of a window only, in a layer.
    pub fn sees_window(&self, layer: usize) -> bool {
        self.windows.as_ref().is_some_and(|windows| !windows.whole.contains(&layer))
    }
}
