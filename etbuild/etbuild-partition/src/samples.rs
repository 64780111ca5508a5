//! A method at different sizes of its inputs, from which a backend derives how its blob depends on the sizes.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_ir::{Graph, at_sizes};

/// The number of samples: a prime, above the divisors of sizes that occur (strides and pools together, up to 64), so that
/// symbols with as many values take every remainder, and pairs of symbols take different pairs of values.
const SAMPLES: i32 = 67;

/// The smallest number of values of a symbol.
const FEWEST: i32 = 8;

/// The method at sample sizes; empty for static methods, and where the sizes do not follow from the inputs' symbols.
pub fn samples(graph: &Graph) -> Vec<Graph> {
    let symbols = symbols(graph);
    if symbols.is_empty() {
        return Vec::new();
    }
    let at = |index: i32| {
        let value = |(step, (name, window)): (i32, (&Arc<str>, &Window))| (name.clone(), window.value(index, step));
        let sized = at_sizes(graph, &(1..).zip(&symbols).map(value).collect())?;
        Some(sized).filter(|sized| sized.inputs.iter().all(|id| !sized.spec(*id).is_dynamic()))
    };
    let sized: Option<Vec<Graph>> = (0..SAMPLES).map(at).collect();
    let mut samples = sized.unwrap_or_default();
    samples.retain(|sample| is_general(graph, sample));
    samples
}

/// Whether no dynamic size is 0 or 1: lowering drops such dimensions.
fn is_general(graph: &Graph, sample: &Graph) -> bool {
    let mut pairs = graph.values.iter().zip(&sample.values);
    pairs.all(|(value, sized)| value.spec.dynamic_dims().all(|dim| sized.spec.sizes[dim] > 1))
}

/// The values of a symbol in samples.
#[derive(Clone, Copy)]
struct Window {
    least: i32,
    count: i32,
}

impl Window {
    /// The upper values of a range, where a model has no special cases. A small range is continued beyond its end: the sizes of
    /// results follow the same rule there.
    fn of(least: i32, most: i32) -> Self {
        let least = least.max(2).max(most.saturating_sub(SAMPLES - 1));
        Self { least, count: most.saturating_sub(least).saturating_add(1).max(FEWEST) }
    }

    fn value(self, sample: i32, step: i32) -> i32 {
        self.least + (sample * step + step) % SAMPLES % self.count
    }
}

/// The symbols of the inputs' sizes by name.
fn symbols(graph: &Graph) -> BTreeMap<Arc<str>, Window> {
    let mut ranges: BTreeMap<Arc<str>, (i32, i32)> = BTreeMap::new();
    for value in graph.inputs.iter().map(|id| graph.value(*id)) {
        for ((size, least), most) in value.symbolic.iter().zip(&value.spec.least).zip(&value.spec.sizes) {
            let Some(size) = size else { continue };
            let (least, most) = size.symbols(*least, *most);
            let range = ranges.entry(size.symbol.clone()).or_insert((least, most));
            *range = (range.0.max(least), range.1.min(most));
        }
    }
    ranges.into_iter().map(|(name, (least, most))| (name, Window::of(least, most))).collect()
}
