//! A selective state space.

use etbuild_ir::ValueId;

use super::rows::{OverTime, plain_norm};
use crate::constant::Part;
use crate::decoder::parts::Parts;
use crate::decoder::text::Text;
use crate::sketch::Scanned;
use crate::{Scan, Steps};

/// The state space of the layer whose module is `layer`, of tokens `[1, count, width]`.
pub fn build(scan: Scan, parts: &mut Parts<'_, '_>, (layer, text): (&str, &Text), input: ValueId) -> ValueId {
    let place = Place { module: format!("{layer}.{}", scan.module), scan };
    let width = parts.sketch.size(input, 2);
    let made = match scan.steps {
        Steps::Narrow { rank, norm } => place.narrow(parts, text, [rank, width], norm, input),
        Steps::Direct { norm, is_ahead } => place.direct(parts, text, width, (norm, is_ahead), input),
    };
    let made = parts.linear(&place.within("out_proj"), made, [width, scan.heads * scan.depth], scan.has_biases);
    scan.scales.map_or(made, |scales| parts.sketch.scale(made, scales.output))
}

/// A scan and its module.
struct Place {
    module: String,
    scan: Scan,
}

impl Place {
    fn within(&self, name: &str) -> String {
        format!("{}.{name}", self.module)
    }

    /// Splits the last dimension into ranges of these sizes.
    fn split<const N: usize>(&self, parts: &mut Parts<'_, '_>, value: ValueId, sizes: [usize; N]) -> [ValueId; N] {
        parts.sketch.enter(self.module.as_str());
        let mut first = 0;
        sizes.map(|size| {
            first += size;
            parts.sketch.slice(value, 2, first - size, first)
        })
    }

    /// The convolution over time and the activation behind.
    fn convolve(&self, parts: &mut Parts<'_, '_>, text: &Text, rows: ValueId) -> ValueId {
        let (module, channels) = (self.within("conv1d"), parts.sketch.size(rows, 2));
        let Scan { kernel, has_convolution_biases, activation, .. } = self.scan;
        let over_time = OverTime::of(parts, &module, [channels, kernel], has_convolution_biases);
        parts.sketch.enter(module);
        let rows = over_time.convolve(parts, text, rows);
        parts.sketch.activate(rows, activation)
    }

    /// Mamba: the steps and the inputs B and C come from the input of the scan.
    fn narrow(
        &self,
        parts: &mut Parts<'_, '_>,
        text: &Text,
        [rank, width]: [usize; 2],
        norm: Option<f64>,
        input: ValueId,
    ) -> ValueId {
        let Scan { heads, states, has_biases, .. } = self.scan;
        let all = parts.linear(&self.within("in_proj"), input, [2 * heads, width], has_biases);
        let [rows, gate] = self.split(parts, all, [heads; 2]);
        let rows = self.convolve(parts, text, rows);
        let narrow = parts.linear(&self.within("x_proj"), rows, [rank + 2 * states, heads], false);
        let [steps, keys, queries] = self.split(parts, narrow, [rank, states, states]);
        let [steps, keys, queries] =
            [steps, keys, queries].map(|value| norm.map_or(value, |epsilon| plain_norm(parts, epsilon, value)));
        let steps = parts.linear(&self.within("dt_proj"), steps, [heads, rank], true);
        let made = self.scanned(parts, text, [rows, steps, keys, queries], None);
        self.gated(parts, made, gate)
    }

    /// Mamba 2: the steps and the inputs B and C come from the mixer's input.
    fn direct(
        &self,
        parts: &mut Parts<'_, '_>,
        text: &Text,
        width: usize,
        (norm, is_ahead): (Option<f64>, bool),
        input: ValueId,
    ) -> ValueId {
        let Scan { heads, depth, states, groups, has_biases, scales, .. } = self.scan;
        let (inner, shared) = (heads * depth, groups * states);
        let through = inner + 2 * shared;
        parts.sketch.enter(self.module.as_str());
        let input = scales.map_or(input, |scales| parts.sketch.scale(input, scales.input));
        let all = parts.linear(&self.within("in_proj"), input, [inner + through + heads, width], has_biases);
        let all = match scales {
            Some(scales) => {
                let sizes = [inner, inner, shared, shared, heads];
                let factors = parts.weights.ranges(&self.within("scales"), scales.parts.into_iter().zip(sizes));
                let factors = parts.sketch.constant(&factors);
                parts.sketch.multiply(all, factors)
            }
            None => all,
        };
        let [gate, rows, steps] = self.split(parts, all, [inner, through, heads]);
        let rows = self.convolve(parts, text, rows);
        let [rows, keys, queries] = self.split(parts, rows, [inner, shared, shared]);
        let made = self.scanned(parts, text, [rows, steps, keys, queries], Some("dt_bias"));
        let [ahead, behind] = if is_ahead { [norm, None] } else { [None, norm] };
        let made = ahead.map_or(made, |epsilon| self.norm_of_groups(parts, epsilon, made));
        let gated = self.gated(parts, made, gate);
        behind.map_or(gated, |epsilon| self.norm_of_groups(parts, epsilon, gated))
    }

    /// The scan of all texts, `[1, rows, heads * depth]`.
    fn scanned(&self, parts: &mut Parts<'_, '_>, text: &Text, inputs: [ValueId; 4], biases: Option<&str>) -> ValueId {
        let Scan { heads, depth, states, groups, limits, .. } = self.scan;
        parts.sketch.enter(self.module.as_str());
        let of_each = matches!(self.scan.steps, Steps::Narrow { .. }).then_some(states);
        let rates = match self.scan.stores_rates {
            true => parts.weights.vector(&self.within("A_log"), Part::all(heads), 0.0),
            false => parts.weights.rates(&self.within("A_log"), heads, of_each),
        };
        let first = parts.weights.recurrent([heads, depth, states]);
        let mut vector = |name: &str| {
            let vector = parts.weights.vector(&self.within(name), Part::all(heads), 0.0);
            parts.sketch.constant(&vector)
        };
        let (skips, biases) = (vector("D"), biases.map(&mut vector));
        let rates = parts.sketch.constant(&rates);
        let rates = parts.sketch.view(rates, &[heads, of_each.unwrap_or(1)]);
        text.each(parts, inputs, |parts, own, [input, steps, keys, queries]| {
            let count = parts.sketch.size(input, 1);
            let shaped = parts.sketch.view(input, &[1, count, heads, depth]);
            let [keys, queries] = [keys, queries].map(|value| parts.sketch.view(value, &[1, count, groups, states]));
            // A step of one token has no limits, in `mamba_ssm` as in `transformers`.
            let (steps, biases) = match limits {
                Some(limits) if count > 1 => (limited(parts, limits, steps, biases), None),
                _ => (steps, biases),
            };
            let scanned = Scanned { input: shaped, steps, rates, keys, queries, biases, skips };
            let name = own.name(&self.within("state"));
            let made = parts.sketch.scan((&name, &first), &scanned, [own.start, own.read]);
            parts.sketch.view(made, &[1, count, heads * depth])
        })
    }

    fn gated(&self, parts: &mut Parts<'_, '_>, value: ValueId, gate: ValueId) -> ValueId {
        parts.sketch.enter(self.module.as_str());
        let gate = parts.sketch.activate(gate, self.scan.activation);
        parts.sketch.multiply(value, gate)
    }

    /// RMSNorm of each group, and weights of all elements.
    fn norm_of_groups(&self, parts: &mut Parts<'_, '_>, epsilon: f64, value: ValueId) -> ValueId {
        let Scan { heads, depth, groups, .. } = self.scan;
        let (module, inner, rows) = (self.within("norm"), heads * depth, parts.sketch.size(value, 1));
        if groups == 1 {
            return parts.gain(&module, inner, epsilon, value);
        }
        parts.sketch.enter(module.as_str());
        let apart = parts.sketch.view(value, &[1, rows, groups, inner / groups]);
        let normal = plain_norm(parts, epsilon, apart);
        let normal = parts.sketch.view(normal, &[1, rows, inner]);
        let gains = parts.weights.vector(&format!("{module}.weight"), Part::all(inner), 0.0);
        let gains = parts.sketch.constant(&gains);
        parts.sketch.multiply(normal, gains)
    }
}

/// The arguments of softplus of steps within limits: softplus grows with its argument.
fn limited(parts: &mut Parts<'_, '_>, limits: [f64; 2], steps: ValueId, biases: Option<ValueId>) -> ValueId {
    let raised = biases.map_or(steps, |biases| parts.sketch.add(steps, biases));
    parts.sketch.within(raised, limits.map(before_softplus))
}

/// The number whose softplus is `step`.
fn before_softplus(step: f64) -> f64 {
    step + (-(-step).exp_m1()).ln()
}

#[cfg(test)]
mod tests {
    use super::before_softplus;

    #[test]
    fn softplus_has_an_inverse() {
        for step in [1e-4, 0.001, 0.7, 3.0, 40.0] {
            assert!((before_softplus(step).exp().ln_1p() - step).abs() < 1e-12 * step.max(1.0), "{step}");
        }
        assert_eq!([0.0, f64::INFINITY].map(before_softplus), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}
