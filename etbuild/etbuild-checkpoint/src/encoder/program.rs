//! The program of an encoder: tokens of a text in, an embedding or logits out.

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, TensorSpec, ValueId};

use super::constants::Constants;
use super::pooling::PROJECTION;
use super::{Dense, Encoder, Head, Pooling, Projection, SequenceHead};
use crate::CheckpointError;
use crate::constant::Part;
use crate::shards::Tensors;
use crate::sketch::Sketch;

/// The method of an encoder.
///
/// # Errors
/// Tensors that are missing, of another shape, or unknown.
pub fn build(encoder: &Encoder, tensors: Tensors) -> Result<Graph, Vec<CheckpointError>> {
    let (sketch, constants) = (Sketch::default(), Constants::new(tensors));
    let mut making = Making { encoder, sketch, constants, end: ValueId(0), made: BTreeMap::new() };
    let mut state = making.embed();
    for index in 0..encoder.layers {
        state = making.layer(index, state);
    }
    if let Some(module) = encoder.block.final_norm {
        state = making.norm(module, state);
    }
    let output = match encoder.head {
        Head::Embedding { pooling, projection, normalize } => {
            let pooled = making.pool(state, pooling);
            let vector = projection.map_or(pooled, |projection| making.project(projection, pooled));
            if normalize { making.sketch.unit(vector) } else { vector }
        }
        Head::Sequence(head) => making.classify(state, &head),
        Head::Tokens { dense, output } => {
            let made = dense.map_or(state, |dense| making.dense(&dense, state));
            making.linear(output, made, [encoder.labels.len(), encoder.width], true)
        }
    };
    let errors = making.constants.finish(encoder.unused);
    if errors.is_empty() { Ok(making.sketch.finish(vec![output])) } else { Err(errors) }
}

/// The program in the making.
pub(super) struct Making<'e> {
    pub(super) encoder: &'e Encoder,
    pub(super) sketch: Sketch,
    pub(super) constants: Constants,
    /// The number of tokens.
    pub(super) end: ValueId,
    /// Values that layers share, by name.
    made: BTreeMap<String, ValueId>,
}

impl Making<'_> {
    /// The sum of the embeddings of token, position and type, normalized. A model without the norm has only the first.
    fn embed(&mut self) -> ValueId {
        let Encoder { names, max_tokens, .. } = *self.encoder;
        self.sketch.enter(names.tokens);
        let tokens = self.sketch.text("tokens", max_tokens);
        let table = self.table(names.tokens, Part::all(self.encoder.vocabulary));
        let embedded = self.sketch.embedding(table, tokens);
        let typed = self.add_types(embedded);
        self.end = self.sketch.length(tokens, max_tokens);
        if names.norm.is_empty() {
            return typed;
        }
        if !self.encoder.has_position_table() {
            return self.norm(names.norm, typed);
        }
        self.sketch.enter(names.positions);
        let (first, count) = (self.encoder.first_position, self.encoder.positions);
        let table = self.table(names.positions, Part { first, count, all: first + count });
        let rows = self.rows(table, 0);
        let placed = self.sketch.add(typed, rows);
        self.norm(names.norm, placed)
    }

    /// As many rows of a dimension as the text has tokens.
    pub(super) fn rows(&mut self, of: ValueId, dimension: usize) -> ValueId {
        self.sketch.first(of, dimension, self.end, self.encoder.max_tokens)
    }

    /// The value with this name, which `make` makes for all layers.
    pub(super) fn once(&mut self, name: &str, make: impl FnOnce(&mut Self) -> ValueId) -> ValueId {
        if let Some(made) = self.made.get(name) {
            return *made;
        }
        let made = make(self);
        self.made.insert(name.to_owned(), made);
        made
    }

    fn add_types(&mut self, tokens: ValueId) -> ValueId {
        let Encoder { names, types, max_tokens, .. } = *self.encoder;
        if types == 0 {
            return tokens;
        }
        self.sketch.enter(names.types);
        let rows = if self.encoder.takes_types() {
            let input = self.sketch.text("types", max_tokens);
            let table = self.table(names.types, Part::all(types));
            self.sketch.embedding(table, input)
        } else {
            self.table(names.types, Part { first: 0, count: 1, all: types })
        };
        self.sketch.add(tokens, rows)
    }

    fn layer(&mut self, index: usize, input: ValueId) -> ValueId {
        let Encoder { names, width, block, .. } = *self.encoder;
        let module = |name: &str| format!("{}.{index}.{name}", names.layers);
        let is_ahead = block.final_norm.is_some();
        let is_normalized = index == 0 && !names.norm.is_empty();
        let (attention_norm, network_norm) = (module(names.attention_norm), module(names.network_norm));
        let read = if is_ahead && !is_normalized { self.norm(&attention_norm, input) } else { input };
        let attended = self.attention(index, &module, read);
        let attended =
            self.linear(&module(names.output), attended, [width, self.encoder.attended()], block.attention_biases);
        let sum = self.sketch.add(attended, input);
        let between = if is_ahead { sum } else { self.norm(&attention_norm, sum) };
        let read = if is_ahead { self.norm(&network_norm, between) } else { between };
        let made = self.network(&module, read);
        let sum = self.sketch.add(made, between);
        if is_ahead { sum } else { self.norm(&network_norm, sum) }
    }

    /// The feed-forward network.
    fn network(&mut self, module: &dyn Fn(&str) -> String, input: ValueId) -> ValueId {
        let Encoder { names, width, inner, activation, block, .. } = *self.encoder;
        let is_joined = block.is_gated && names.factor.is_empty();
        let rows = if is_joined { 2 * inner } else { inner };
        let wide = self.linear(&module(names.up), input, [rows, width], block.network_biases);
        let (first, second) = match (block.is_gated, is_joined) {
            (false, _) => (wide, None),
            (true, false) => {
                (wide, Some(self.linear(&module(names.factor), input, [inner, width], block.network_biases)))
            }
            (true, true) => {
                let [first, second] = [0, inner].map(|start| self.sketch.slice(wide, 2, start, start + inner));
                (first, Some(second))
            }
        };
        let bent = self.sketch.activate(first, activation);
        let bent = second.map_or(bent, |second| self.sketch.multiply(bent, second));
        self.linear(&module(names.down), bent, [width, inner], block.network_biases)
    }

    /// One vector, `[1, width]`, of the hidden states of all tokens.
    fn pool(&mut self, states: ValueId, pooling: Pooling) -> ValueId {
        self.sketch.enter("pooling");
        let width = self.encoder.width as i32;
        let output = floats([1, width], [1, width]);
        let (dims, keeps) = (Argument::Ints(vec![1]), Argument::Bool(false));
        let (operator, rest) = match pooling {
            Pooling::Mean => ("aten.mean.dim", vec![dims, keeps, Argument::None]),
            Pooling::Max => ("aten.amax.default", vec![dims, keeps]),
            Pooling::Cls => ("aten.select.int", vec![Argument::Int(1), Argument::Int(0)]),
            Pooling::Last => ("aten.select.int", vec![Argument::Int(1), Argument::Int(-1)]),
        };
        let arguments = std::iter::once(Argument::Value(states)).chain(rest).collect();
        self.sketch.call(operator, arguments, output)
    }

    /// The vector behind a linear layer.
    fn project(&mut self, projection: Projection, vector: ValueId) -> ValueId {
        let Projection { width, has_bias, has_tanh } = projection;
        let made = self.linear(PROJECTION, vector, [width, self.encoder.width], has_bias);
        if has_tanh { self.sketch.own("aten.tanh.default", &[made], &[]) } else { made }
    }

    /// Logits, `[1, labels]`, of a text.
    fn classify(&mut self, states: ValueId, head: &SequenceHead) -> ValueId {
        let pooled = self.pool(states, head.pooling);
        let made = self.dense(&head.dense, pooled);
        self.linear(head.output, made, [self.encoder.labels.len(), self.encoder.width], true)
    }

    fn dense(&mut self, dense: &Dense, input: ValueId) -> ValueId {
        let Encoder { width, .. } = *self.encoder;
        let made = self.linear(dense.module, input, [width, width], dense.has_bias);
        let bent = match dense.activation {
            None => self.sketch.own("aten.tanh.default", &[made], &[]),
            Some(activation) => self.sketch.activate(made, activation),
        };
        dense.norm.map_or(bent, |module| self.norm(module, bent))
    }

    pub(super) fn linear(
        &mut self,
        module: &str,
        input: ValueId,
        [rows, columns]: [usize; 2],
        has_bias: bool,
    ) -> ValueId {
        self.sketch.enter(module);
        let matrix = self.constants.matrix(&format!("{module}.weight"), Part::all(rows), columns);
        let matrix = self.sketch.floats(&matrix);
        let bias = has_bias.then(|| {
            let bias = self.constants.vector(&format!("{module}.bias"), rows);
            self.sketch.constant(&bias)
        });
        self.sketch.linear(input, matrix, bias)
    }

    fn norm(&mut self, module: &str, input: ValueId) -> ValueId {
        self.sketch.enter(module);
        let constants = [("weight", "gamma"), ("bias", "beta")].map(|(name, old)| {
            if name == "bias" && !self.encoder.norm.has_biases {
                return None;
            }
            // The oldest checkpoints, made by TensorFlow, have other names.
            let (name, old) = (format!("{module}.{name}"), format!("{module}.{old}"));
            let name = if !self.constants.has(&name) && self.constants.has(&old) { old } else { name };
            let constant = self.constants.vector(&name, self.encoder.width);
            Some(self.sketch.constant(&constant))
        });
        self.sketch.norm(input, constants, self.encoder.norm)
    }

    fn table(&mut self, module: &str, rows: Part) -> ValueId {
        let table = self.constants.matrix(&format!("{module}.weight"), rows, self.encoder.width);
        self.sketch.floats(&table)
    }
}

fn floats<const N: usize>(most: [i32; N], least: [i32; N]) -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Float, most).with_least(least)
}
