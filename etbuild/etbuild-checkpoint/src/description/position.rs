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
    /// Which pairs turn by the time, by the row and by the column of a token, where the three differ in pictures; `None` for pairs that turn by
    /// the position.
    pub sections: Option<Sections>,
    /// RoPE scaling: the extension of a short context to a longer context.
    pub scaling: Scaling,
}

/// The pairs that turn by the time, by the row and by the column of a token (M-RoPE, Qwen2-VL). The three are one position except in pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections {
    /// The pairs of time, row and column.
    pub counts: [usize; 3],
    /// Whether pairs of the three take turns as long as there are some, and all others turn by the time (Qwen3-VL). Otherwise the pairs of
    /// time come first, and those of columns last.
    pub takes_turns: bool,
}

impl Sections {
    /// The number of the axis that a pair turns by: 0 for time, 1 for rows, 2 for columns.
    pub fn axis(&self, pair: usize) -> usize {
        let [times, rows, columns] = self.counts;
        match (self.takes_turns, pair % 3) {
            (true, 1) if pair / 3 < rows => 1,
            (true, 2) if pair / 3 < columns => 2,
            (true, _) => 0,
            (false, _) => usize::from(pair >= times) + usize::from(pair >= times + rows),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_the_axes_follow_each_other_or_take_turns() {
        let axes = |counts, takes_turns, pairs| -> Vec<usize> {
            (0..pairs).map(|pair| Sections { counts, takes_turns }.axis(pair)).collect()
        };
        assert_eq!(axes([2, 1, 2], false, 5), [0, 0, 1, 2, 2]);
        // Rows and columns end, and the rest turns by the time.
        assert_eq!(axes([4, 2, 1], true, 7), [0, 1, 2, 0, 1, 0, 0]);
        // More rows than a third of the pairs.
        assert_eq!(axes([1, 3, 1], true, 5), [0, 1, 2, 0, 1]);
    }
}
