//! The program of an encoder: tokens of a text in, an embedding or logits out.

use et_core::ScalarType;
use etbuild_ir::{Argument, Graph, TensorSpec, ValueId};

use super::constants::Constants;
use super::{Encoder, Head, Pooling, SequenceHead};
use crate::CheckpointError;
use crate::constant::Part;
use crate::shards::Tensors;
use crate::sketch::Sketch;

/// The method of an encoder.
///
/// # Errors
/// Tensors that are missing, of another shape, or unknown.
pub fn build(encoder: &Encoder, tensors: Tensors) -> Result<Graph, Vec<CheckpointError>> {
    let mut making = Making { encoder, sketch: Sketch::default(), constants: Constants::new(tensors) };
    let mut state = making.embed();
    for index in 0..encoder.layers {
        state = making.layer(index, state);
    }
    let output = match encoder.head {
        Head::Embedding { pooling, normalize } => {
            let pooled = making.pool(state, pooling);
            if normalize { making.normalize(pooled) } else { pooled }
        }
        Head::Sequence(head) => making.classify(state, &head),
        Head::Tokens(module) => making.linear(module, state, [encoder.labels.len(), encoder.width]),
    };
    let errors = making.constants.finish(encoder.unused);
    if errors.is_empty() { Ok(making.sketch.finish(vec![output])) } else { Err(errors) }
}

/// The program in the making.
struct Making<'e> {
    encoder: &'e Encoder,
    sketch: Sketch,
    constants: Constants,
}

impl Making<'_> {
    /// The sum of the embeddings of token, position and type, normalized.
    fn embed(&mut self) -> ValueId {
        let Encoder { names, width, max_tokens, .. } = *self.encoder;
        self.sketch.enter(names.tokens);
        let tokens = self.sketch.text("tokens", max_tokens);
        let table = self.table(names.tokens, Part::all(self.encoder.vocabulary));
        let embedded = self.sketch.embedding(table, tokens);
        let typed = self.add_types(embedded);
        self.sketch.enter(names.positions);
        let (first, count) = (self.encoder.first_position, self.encoder.positions);
        let table = self.table(names.positions, Part { first, count, all: first + count });
        let end = self.sketch.length(tokens, max_tokens);
        let output = [max_tokens, width].map(|size| size as i32);
        let output = TensorSpec::contiguous(ScalarType::Float, output).with_least([1, output[1]]);
        let range = [Argument::Int(0), Argument::Int(0), Argument::Value(end), Argument::Int(1)];
        let arguments = std::iter::once(Argument::Value(table)).chain(range).collect();
        let rows = self.sketch.call("aten.slice.Tensor", arguments, output);
        let placed = self.sketch.add(typed, rows);
        self.norm(names.norm, placed)
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
        let Encoder { names, width, inner, activation, .. } = *self.encoder;
        let module = |name: &str| format!("{}.{index}.{name}", names.layers);
        let attended = self.attention(&module, input);
        let attended = self.linear(&module(names.output), attended, [width, width]);
        let sum = self.sketch.add(attended, input);
        let between = self.norm(&module(names.attention_norm), sum);
        let wide = self.linear(&module(names.up), between, [inner, width]);
        let bent = self.sketch.activate(wide, activation);
        let made = self.linear(&module(names.down), bent, [width, inner]);
        let sum = self.sketch.add(made, between);
        self.norm(&module(names.network_norm), sum)
    }

    fn attention(&mut self, module: &dyn Fn(&str) -> String, input: ValueId) -> ValueId {
        let Encoder { names, width, .. } = *self.encoder;
        let inputs =
            [names.query, names.key, names.value].map(|name| self.linear(&module(name), input, [width, width]));
        self.sketch.attention(inputs, self.encoder.heads)
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

    /// The vector over its length, as `torch.nn.functional.normalize`.
    fn normalize(&mut self, vector: ValueId) -> ValueId {
        self.sketch.enter("normalize");
        let one = floats([1, 1], [1, 1]);
        let squares = self.sketch.multiply(vector, vector);
        let sum = vec![Argument::Value(squares), Argument::Ints(vec![1]), Argument::Bool(true), Argument::None];
        let sum = self.sketch.call("aten.sum.dim_IntList", sum, one.clone());
        let length = self.sketch.own("aten.sqrt.default", &[sum], &[]);
        let length = self.sketch.own("aten.clamp.default", &[length], &[Argument::Float(1e-12), Argument::None]);
        self.sketch.own("aten.div.Tensor", &[vector, length], &[])
    }

    /// Logits, `[1, labels]`, of the first token.
    fn classify(&mut self, states: ValueId, head: &SequenceHead) -> ValueId {
        let Encoder { width, .. } = *self.encoder;
        let first = self.pool(states, Pooling::Cls);
        let made = self.linear(head.dense, first, [width, width]);
        let operator = if head.is_relu { "aten.relu.default" } else { "aten.tanh.default" };
        let bent = self.sketch.own(operator, &[made], &[]);
        self.linear(head.output, bent, [self.encoder.labels.len(), width])
    }

    fn linear(&mut self, module: &str, input: ValueId, [rows, columns]: [usize; 2]) -> ValueId {
        self.sketch.enter(module);
        let matrix = self.constants.matrix(&format!("{module}.weight"), Part::all(rows), columns);
        let bias = self.constants.vector(&format!("{module}.bias"), rows);
        let (matrix, bias) = (self.sketch.floats(&matrix), self.sketch.constant(&bias));
        self.sketch.linear(input, matrix, Some(bias))
    }

    fn norm(&mut self, module: &str, input: ValueId) -> ValueId {
        self.sketch.enter(module);
        let constants = [("weight", "gamma"), ("bias", "beta")].map(|(name, old)| {
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
