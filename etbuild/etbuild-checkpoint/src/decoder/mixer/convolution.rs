//! A short convolution between two gates.

use etbuild_ir::ValueId;

use super::rows::OverTime;
use crate::Convolution;
use crate::decoder::parts::Parts;
use crate::decoder::text::Text;

/// The convolution of the layer whose module is `layer`, of tokens `[1, count, width]`.
pub fn build(
    convolution: Convolution,
    parts: &mut Parts<'_, '_>,
    (layer, text): (&str, &Text),
    input: ValueId,
) -> ValueId {
    let Convolution { kernel, has_biases, names } = convolution;
    let (module, width) = (format!("{layer}.{}", names.module), parts.sketch.size(input, 2));
    let within = |name: &str| format!("{module}.{name}");
    let all = parts.linear(&within(names.input), input, [3 * width, width], has_biases);
    parts.sketch.enter(module.as_str());
    let [before, behind, value] = [0, 1, 2].map(|index| parts.sketch.slice(all, 2, index * width, (index + 1) * width));
    let gated = parts.sketch.multiply(before, value);
    let name = within(names.kernel);
    let over_time = OverTime::of(parts, &name, [width, kernel], has_biases);
    parts.sketch.enter(name);
    let mixed = over_time.convolve(parts, text, gated);
    parts.sketch.enter(module.as_str());
    let gated = parts.sketch.multiply(behind, mixed);
    parts.linear(&within(names.output), gated, [width, width], has_biases)
}
