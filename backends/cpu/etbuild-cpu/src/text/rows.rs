//! The text of element-wise chains, copies, attention and operators on rows.

use et_cpu::{
    AttendCache, Attention, BatchMatmul, Copy, DequantizeRows, Elementwise, Gather, GatherColumns, Mean, Normalize,
    Place, QParams, QuantizeRows, Rotate, Softmax, Term,
};

use super::{Describe, Names, operation, typed, unless};

impl Describe for Elementwise {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let count = self.stream_count as usize;
        let streams = self.streams.iter().take(count).map(|stream| match stream.qparams {
            QParams { scale, zero_point } if stream.qparams.is_int8() => {
                format!("{} int8 (scale {scale}, zero {zero_point})", names.place(stream.place))
            }
            _ => names.place(stream.place),
        });
        // Registers are the streams, then the steps: each step is printed inside the step that reads it.
        let mut registers: Vec<String> = streams.collect();
        for step in self.steps.iter().take(self.step_count as usize) {
            let (name, arity) = operation(step.operation);
            let terms = step.terms.iter().take(arity);
            let term = |term: &Term| match term.kind {
                0 => registers.get(term.bits as usize).cloned().unwrap_or_default(),
                _ => f32::from_bits(term.bits).to_string(),
            };
            let terms: Vec<String> = terms.map(term).collect();
            registers.push(format!("{name}({})", terms.join(", ")));
        }
        let first = self.sizes.iter().position(|size| *size > 1).unwrap_or(self.sizes.len() - 1);
        format!("{} to {}", registers.pop().unwrap_or_default(), typed(self.qparams, &self.sizes[first..]))
    }
}

impl Describe for Copy {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let used = |numbers: &[u32; 8]| format!("{:?}", &numbers[..(self.rank as usize).min(numbers.len())]);
        let (sizes, from, to) = (used(&self.sizes), used(&self.input_strides), used(&self.output_strides));
        let input = names.place(self.input);
        format!("copy of {input}, {} bytes each, {sizes} from strides {from} to strides {to}", self.width)
    }
}

impl Describe for Mean {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [outer, _, inner] = self.sizes;
        let input = names.tensor(self.input, self.from, &self.sizes);
        format!("mean over dimension 1 of {input} to {}", typed(self.to, &[outer, inner]))
    }
}

impl Describe for Softmax {
    fn output(&self) -> Place {
        self.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        format!("softmax of {}", names.tensor(self.input.place, QParams::FLOAT, &[self.rows, self.columns]))
    }
}

impl Describe for Normalize {
    fn output(&self) -> Place {
        self.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        let name = if self.centered == 1 { "layer norm" } else { "rms norm" };
        format!("{name} of {}", names.tensor(self.input.place, QParams::FLOAT, &[self.rows, self.columns]))
    }
}

impl Describe for Attention {
    fn output(&self) -> Place {
        self.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [batches, heads, queries, keys, depth] = self.sizes;
        let query = names.tensor(self.query.place, QParams::FLOAT, &[batches, heads, queries, depth]);
        let key = names.tensor(self.key.place, QParams::FLOAT, &[batches, heads, keys, depth]);
        let biases = [self.bias.place, self.mask.place].into_iter().filter(Place::is_present);
        let biases: String = biases.map(|bias| format!(", + {}", names.place(bias))).collect();
        let causal = if self.causal == 1 { ", causal" } else { "" };
        let value = names.place(self.value.place);
        format!("attention of {query}, {key} and {value}{}{biases}{causal}", unless("scale", self.scale, 1.0))
    }
}

impl Describe for BatchMatmul {
    fn output(&self) -> Place {
        self.output.place
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [batches, rows, inner, columns] = self.sizes;
        let left = names.tensor(self.left.place, QParams::FLOAT, &[batches, rows, inner]);
        let right = names.tensor(self.right.place, QParams::FLOAT, &[batches, inner, columns]);
        format!("batch matmul of {left} and {right}")
    }
}

impl Describe for Gather {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let (table, indices) = (names.place(self.table), names.place(self.indices));
        format!("gather of {} rows of {} bytes of {table} by {indices}", self.count, self.width)
    }
}

impl Describe for GatherColumns {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [count, depth, _] = self.sizes;
        let (weights, indices) = (names.slot(self.weights.slot), names.place(self.indices));
        format!("gather of {count} rows of {depth} int{} elements of {weights} by {indices}", self.weights.bits)
    }
}

impl Describe for QuantizeRows {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let input = names.tensor(self.input, QParams::FLOAT, &[self.rows, self.columns]);
        let scope = if self.together == 1 { "tensor" } else { "token" };
        format!("quantize {input} to int8, scales per {scope} in {}", names.place(*self.row_scales))
    }
}

impl Describe for DequantizeRows {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let scales = names.place(self.row_scales);
        format!("dequantize {} int8{:?} (scales {scales})", names.place(self.input), [self.rows, self.columns])
    }
}

impl Describe for Rotate {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [rows, heads, depth, ..] = self.sizes;
        let input = names.tensor(self.input, QParams::FLOAT, &[rows, heads, depth]);
        format!("rope of {input} from position {}", names.place(self.piece.start))
    }
}

impl Describe for AttendCache {
    fn output(&self) -> Place {
        *self.output
    }

    fn words(&self, names: &Names<'_>) -> String {
        let [rows, heads, key_heads, depth, slots] = self.sizes;
        let query = names.tensor(self.query, QParams::FLOAT, &[rows, heads, depth]);
        let (keys, values) = (names.place(self.keys), names.place(self.values));
        let cache = format!("KV cache {keys} and {values} of {slots} slots and {key_heads} heads");
        let parts = unless("sliding window", self.window, 0) + &unless("soft cap", self.soft_cap, 0.0);
        format!("attention of {query} to {cache} from position {}{parts}", names.place(self.piece.start))
    }
}
