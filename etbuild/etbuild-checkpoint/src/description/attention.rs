//! Attention.

/// Attention with shared heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The heads of queries.
    pub heads: usize,
    /// The heads of keys and values, each for a group of neighbouring heads of queries.
    pub key_heads: usize,
    /// The elements of a head.
    pub depth: usize,
    /// The factor of the scores.
    pub scale: f64,
    /// Scores are at most this: `tanh(score / cap) * cap`.
    pub cap: Option<f64>,
    /// Whether each head adds a slope times a key's position to the scores (Press et al. 2022, ALiBi).
    pub has_slopes: bool,
    /// What each head adds to the scores by the distance of token and key, if anything.
    pub relative: Option<Relative>,
    /// Whether each head has a sink: a score without a value, which takes a share of the weights.
    pub has_sinks: bool,
    /// The scaling of queries by their position, in models that have one.
    pub temperature: Option<AttentionTemperature>,
    /// Elements of queries, keys and values are at most this far from 0.
    pub clip: Option<f64>,
    /// Which projections have biases.
    pub biases: Biases,
    /// Whether the output of each head is multiplied by the logistic function of a gate, whose rows follow those of the head's query.
    pub is_gated: bool,
    /// Whether keys have a bias where queries and values have one.
    pub has_key_bias: bool,
    /// How the projections to queries, keys and values are stored.
    pub inputs: Inputs,
    /// The normalization of the heads of queries and keys.
    pub head_norm: HeadNorm,
    /// Whether the projection of keys is that of values too.
    pub values_are_keys: bool,
    /// Whether the heads of values are normalized, without weights.
    pub norms_values: bool,
    /// The latents that keys and values of all heads are products of, in models that have such. Keys are then of one head, whose elements are
    /// the latent and the rotated elements.
    pub latent: Option<Latent>,
}

/// Multi-head latent attention (DeepSeek-AI 2024): the keys and values of all heads are products of one latent of a token, beside some elements
/// of keys that are rotated and that heads share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latent {
    /// The elements of the latent of queries, where queries have one.
    pub query_rank: Option<usize>,
    /// The elements of the latent of keys and values.
    pub rank: usize,
    /// The elements of a query's head that are not rotated.
    pub plain: usize,
    /// The rotated elements of a head.
    pub rotated: usize,
    /// The elements of a head of values.
    pub value: usize,
    /// The epsilon of the normalization of latents.
    pub epsilon: f64,
    /// Whether the matrices of all heads are two tensors, `[heads, rank, plain]` and `[heads, value, rank]`, in place of one matrix with the rows
    /// of each head.
    pub is_split: bool,
}

/// Attention temperature tuning (Llama 4): queries grow with the position, so that attention over long texts stays sharp. The factor is
/// `1 + slope * ln(1 + floor(position / period))`, which is 1 for the first `period` tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttentionTemperature {
    /// The slope.
    pub slope: f64,
    /// The tokens with the same factor.
    pub period: usize,
}

/// Numbers that are added to scores by the distance of token and key (Raffel et al. 2020): distances share buckets, the wider the larger
/// they are. All layers read one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// The table, `[buckets, heads]`.
    pub table: &'static str,
    /// The number of buckets.
    pub buckets: usize,
    /// Distances from here on are in the last bucket.
    pub farthest: usize,
}

/// How the projections to queries, keys and values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// Three matrices.
    Separate,
    /// One matrix: the rows of all queries, of all keys, of all values.
    Fused,
    /// One matrix: for each head of keys, the rows of the group of queries, of the key and of the value.
    FusedByHead,
}

/// Which of attention's projections have biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Biases {
    /// The projections to queries, keys and values.
    pub inputs: bool,
    /// The projection to the output.
    pub output: bool,
}

impl Biases {
    /// No projection.
    pub const NONE: Self = Self { inputs: false, output: false };
    /// The projections to queries, keys and values.
    pub const INPUTS: Self = Self { inputs: true, output: false };
    /// All four, or none.
    pub const fn all(are_there: bool) -> Self {
        Self { inputs: are_there, output: are_there }
    }
}

/// Normalization of the heads of queries and keys, by the statistics of [`Norm`](crate::Norm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadNorm {
    /// No normalization.
    None,
    /// Each head by itself, all with the same weights.
    Each,
    /// Each head by itself, all with the same weights, behind the rotary embedding.
    EachRotated,
    /// Each head by itself, with weights `[heads, depth]` and no biases.
    Distinct,
    /// Each head by itself, with a module of weights for each head and no biases.
    Listed,
    /// All heads together.
    Whole,
}
