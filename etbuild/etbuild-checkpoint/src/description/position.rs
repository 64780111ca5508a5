//! Rotary position embedding.

/// Rotary position embedding (Su et al. 2021).
#[derive(Clone, Debug, PartialEq)]
pub struct Rotary {
    /// The base of the wavelengths.
    pub theta: f64,
    /// The rotated pairs of elements at the beginning of a head.
    pub pairs: usize,
    /// Whether pairs are neighbours; otherwise an element of the first half and the element of the second half are a pair.
    pub is_interleaved: bool,
    /// How many of the pairs turn by the time, by the row and by the column of a token, in this order (M-RoPE, Qwen2-VL): the three are one
    /// position except in pictures. `None` for pairs that turn by the position.
    pub sections: Option<[usize; 3]>,
    /// RoPE scaling: the extension of a short context to a longer context.
    pub scaling: Scaling,
}

/// How wavelengths are stretched.
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// Not at all.
    None,
    /// All by a factor.
    Linear {
        /// The factor.
        factor: f64,
    },
    /// All by a factor, and pairs behind the first `turned` do not turn at all (Gemma 4).
    Proportional {
        /// The factor.
        factor: f64,
        /// The pairs that turn.
        turned: usize,
    },
    /// Long wavelengths by a factor, short wavelengths not, with a slope between (Llama 3.1).
    ByWavelength {
        /// The factor.
        factor: f64,
        /// The longest that stay are `original` divided by this.
        high: f64,
        /// The shortest that are stretched in full are `original` divided by this.
        low: f64,
        /// The longest text that the model was made for first.
        original: f64,
    },
    /// Each by a separate factor (Ding et al. 2024, LongRoPE): contexts up to `original` by one list, longer contexts by another.
    ByPair {
        /// The factors of contexts up to `original`.
        short: Vec<f64>,
        /// The factors of contexts longer than `original`.
        long: Vec<f64>,
        /// The longest text that the model was made for first.
        original: usize,
        /// The factors of cosines and sines, of contexts up to `original` and of longer contexts.
        magnitudes: [f64; 2],
    },
    /// Long wavelengths by a factor, short wavelengths not, with a slope between by the index of the pair (Peng et al. 2023, YaRN).
    ByIndex {
        /// The factor.
        factor: f64,
        /// The pairs where the slope starts and ends.
        slope: [f64; 2],
        /// The factor of cosines and sines.
        magnitude: f64,
    },
}
