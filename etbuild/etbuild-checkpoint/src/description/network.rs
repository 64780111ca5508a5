//! Feed-forward networks and mixtures of experts.

use crate::{CheckpointError, ExpertNames};

/// The feed-forward network: `down(activation(gate(x)) * up(x))`, or `down(activation(up(x)))` without a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeedForward {
    /// The elements between.
    pub width: usize,
    /// The activation.
    pub activation: Activation,
    /// Whether the projections have biases.
    pub biases: bool,
    /// The gate.
    pub gate: Gate,
    /// The factors of the gate and of the output.
    pub scales: Option<[f64; 2]>,
    /// What elements of the gate are less by ahead of the activation, and 0 below, if anything.
    pub cutoff: Option<Cutoff>,
}

/// What few elements of a row are above (Spark Transformer, You et al. 2025).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cutoff {
    /// What so great a share of a normal distribution with the row's mean and deviation is below.
    Share(f64),
    /// The mean of the row and so many standard deviations.
    Deviations(f64),
}

/// The gate of a feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No gate.
    None,
    /// A matrix beside the matrix `up`.
    Separate,
    /// The first half of the rows of one matrix, whose second half is `up`.
    Fused,
}

/// A mixture of experts (Shazeer et al. 2017): networks of which each token passes the likeliest ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// The experts of a layer.
    pub count: usize,
    /// The experts that a token passes.
    pub chosen: usize,
    /// The elements between the projections of an expert.
    pub width: usize,
    /// Whether experts have a gate: otherwise they are `down(activation(up(x)))`.
    pub is_gated: bool,
    /// Whether the shares of the chosen experts are divided by their sum.
    pub is_normalized: bool,
    /// How the matrices are stored.
    pub storage: Storage,
    /// The names of the modules.
    pub names: ExpertNames,
    /// The elements between the projections of a network that every token passes, if any.
    pub shared: Option<usize>,
    /// Whether every token also passes the decoder's network, whose output is added.
    pub is_beside_network: bool,
    /// The normalizations of experts beside a network, where these have their own.
    pub norms: Option<ExpertNorms>,
    /// Whether router and projections have biases.
    pub has_biases: bool,
    /// The clamped form of the gate, if any.
    pub clamped: Option<Clamped>,
    /// How a token chooses experts.
    pub routing: Routing,
}

impl Experts {
    /// Has the projections of each expert as tensors of their own, under Qwen's names: what becomes of stacks in other forms.
    pub fn list(&mut self) {
        let ExpertNames { gate, up, down, .. } = ExpertNames::QWEN;
        self.names = ExpertNames { gate, up, down, ..self.names };
        self.storage = Storage::Listed;
    }

    /// Has the projections of all experts as two tensors, where `is_stored` says so of a tensor in the mixture: recent checkpoints of Qwen.
    pub fn stack(&mut self, is_stored: impl Fn(&str) -> bool) {
        let (own, names) = (self.names, ExpertNames::STACKED);
        if self.storage == Storage::Listed && is_stored(&format!("{}.{}.{}", own.module, own.list, names.gate)) {
            self.names = ExpertNames { gate: names.gate, up: names.up, down: names.down, ..own };
            self.storage = Storage::StackedList;
        }
    }

    /// Whether the groups of experts have so many experts.
    pub(super) fn check_groups(&self) -> Result<(), CheckpointError> {
        let Some(Groups { count, chosen, judged }) = self.routing.groups else { return Ok(()) };
        let size = self.count / count.max(1);
        let mistakes = [
            (count == 0 || size * count != self.count, "n_group", format!("does not divide {} experts", self.count)),
            (chosen == 0 || chosen > count, "topk_group", format!("is {chosen}, of {count} groups")),
            (judged > size, "n_group", format!("leaves {size} experts to a group, of which {judged} are compared")),
            (self.chosen > chosen * size, "topk_group", format!("leaves {} experts to choose from", chosen * size)),
        ];
        let first = mistakes.into_iter().find(|(is_mistake, ..)| *is_mistake);
        first.map_or(Ok(()), |(_, key, reason)| Err(CheckpointError::key(key, reason)))
    }
}

/// The names of the normalizations of experts beside a network. Router and experts read the hidden states ahead of the normalization of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpertNorms {
    /// Ahead of the experts.
    pub before: &'static str,
    /// Behind the experts.
    pub behind: &'static str,
    /// Behind the network.
    pub behind_network: &'static str,
}

/// How a token chooses experts by the scores of the router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Routing {
    /// What the shares of experts are of scores.
    pub shares: Shares,
    /// The module with a number for each expert that is added to the shares for the choice, but not for the result (Wang et al. 2024), in the
    /// mixture.
    pub correction: Option<&'static str>,
    /// The groups of experts, where a token chooses from the best groups.
    pub groups: Option<Groups>,
    /// The factor of the shares of chosen experts.
    pub scale: Option<f64>,
    /// Whether the router reads hidden states that are normalized for it alone, and whether the shares of each expert have a factor (Gemma 4).
    pub is_scaled: bool,
}

impl Routing {
    /// The experts with the greatest probabilities.
    pub const PLAIN: Self =
        Self { shares: Shares::Softmax, correction: None, groups: None, scale: None, is_scaled: false };
}

/// What the shares of experts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shares {
    /// Probabilities that sum to 1.
    Softmax,
    /// The logistic function of each score.
    Sigmoid,
    /// For the first of two choices, the probability among experts whose scores are close to the best; for the second, the same without the first
    /// (SparseMixer, Liu et al. 2024).
    InTurns {
        /// Scores are close if they differ by at most this share of the larger magnitude.
        slack: f64,
    },
}

impl Shares {
    /// The name in configurations.
    pub(crate) const fn function(self) -> &'static str {
        match self {
            Self::Sigmoid => "sigmoid",
            Self::Softmax | Self::InTurns { .. } => "softmax",
        }
    }
}

/// Groups of neighbouring experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The groups.
    pub count: usize,
    /// The groups that a token chooses from.
    pub chosen: usize,
    /// The greatest shares of a group whose sum says how good the group is.
    pub judged: usize,
}

/// A gate whose inputs are clamped (gpt-oss): `(up + 1) * gate * sigmoid(slope * gate)` with a `gate` of at most `most`, and an `up`
/// at most `most` away from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamped {
    /// The slope.
    pub slope: f64,
    /// The limit.
    pub most: f64,
}

/// How the matrices of experts are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Three matrices for each expert.
    Listed,
    /// Two tensors for all experts: `[experts, rows of gate and up, columns]`, and `[experts, rows of down, columns]`.
    Stacked,
    /// The same, as parameters of the list of experts instead of modules. The matrices may be transposed (Qwen3-VL).
    StackedList,
    /// As `Stacked` with transposed matrices, in which rows of gate and up take turns.
    Interleaved,
}

/// An activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x sigmoid(x)`.
    Silu,
    /// The Gaussian error linear unit.
    Gelu,
    /// GELU with the approximation by `tanh`.
    GeluTanh,
    /// `x sigmoid(1.702 x)`.
    QuickGelu,
    /// `max(x, 0)`.
    Relu,
    /// The square of `max(x, 0)`.
    ReluSquared,
}
