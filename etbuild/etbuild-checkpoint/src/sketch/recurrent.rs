//! Operators whose state is of one size, whatever the length of the text.

use etbuild_ir::{Argument, ValueId};

use super::Sketch;
use crate::constant::Constant;

/// What a selective scan reads of a text's tokens.
pub struct Scanned {
    /// `[1, rows, heads, depth]`.
    pub input: ValueId,
    /// `[1, rows, heads]`, ahead of `softplus`.
    pub steps: ValueId,
    /// `[heads, 1 or width]`.
    pub rates: ValueId,
    /// The inputs B and C, `[1, rows, groups, width]`.
    pub keys: ValueId,
    pub queries: ValueId,
    /// Biases of the steps, and factors of the input that is added to the output, `[heads]`.
    pub biases: Option<ValueId>,
    pub skips: ValueId,
}

/// What the gated delta rule reads of a text's tokens.
pub struct Remembered {
    /// `[1, rows, heads, depth]`.
    pub values: ValueId,
    /// `[1, rows, groups, width]`.
    pub keys: ValueId,
    pub queries: ValueId,
    /// `[1, rows, heads]`, ahead of `softplus`.
    pub steps: ValueId,
    /// `[1, rows, heads]`.
    pub shares: ValueId,
    /// `[heads]`.
    pub rates: ValueId,
    /// The biases of the steps, `[heads]`.
    pub biases: ValueId,
}

impl Sketch {
    /// The gated delta rule over the rows of a text behind `start`, up to the index `last`, with the state of this name;
    /// `[1, rows, heads, depth]`.
    pub fn remember(
        &mut self,
        state: (&str, &Constant),
        remembered: &Remembered,
        [start, last]: [ValueId; 2],
    ) -> ValueId {
        let Remembered { values, keys, queries, steps, shares, rates, biases } = *remembered;
        let mut made = values;
        self.update(state.0, state.1, |sketch, before| {
            let read = [values, keys, queries, steps, shares, rates, biases, before, start, last];
            let outputs = [sketch.like(values), sketch.like(before)];
            let arguments = read.map(Argument::Value).to_vec();
            let [out, behind] = sketch.call_many("etbuild.gated_delta.default", arguments, outputs);
            made = out;
            behind
        });
        made
    }

    /// A selective scan of the rows of a text behind `start`, up to the index `last`, over the state of this name; `[1, rows, heads, depth]`.
    pub fn scan(&mut self, state: (&str, &Constant), scanned: &Scanned, [start, last]: [ValueId; 2]) -> ValueId {
        let Scanned { input, steps, rates, keys, queries, biases, skips } = *scanned;
        let mut made = input;
        self.update(state.0, state.1, |sketch, before| {
            let read = [input, steps, rates, keys, queries, before, start, last];
            let biases = biases.map_or(Argument::None, Argument::Value);
            let arguments = read.map(Argument::Value).into_iter().chain([biases, Argument::Value(skips)]).collect();
            let outputs = [sketch.like(input), sketch.like(before)];
            let [out, behind] = sketch.call_many("etbuild.selective_scan.default", arguments, outputs);
            made = out;
            behind
        });
        made
    }
}
