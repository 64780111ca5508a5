//! A layer of a tower over patches.

use etbuild_ir::{Argument, ValueId};

use super::norm::norm;
use crate::decoder::parts::Parts;
use crate::{Norm, NormKind, PatchTurning, Patches, TOWER};

/// The values that all layers read.
pub struct Shared {
    /// The cosines and the sines of the patches, `[n, depth / 2]`.
    pub tables: [ValueId; 2],
    /// The row of the first patch in the tables.
    pub first: ValueId,
    /// The index of the last patch.
    pub last: ValueId,
    /// The end of each patch's window, and the end of all patches.
    pub ends: [Option<ValueId>; 2],
}

/// One layer, with normalization ahead of attention and of the feed-forward network, and perhaps behind.
pub fn build(parts: &mut Parts<'_, '_>, tower: &Patches, index: usize, shared: &Shared, input: ValueId) -> ValueId {
    let names = tower.names;
    let module = format!("{TOWER}.{}.{index}", names.layers);
    let within = |name: &str| format!("{module}.{name}");
    let behind = |parts: &mut Parts<'_, '_>, part: usize, made: ValueId| {
        let name = names.behind.and_then(|all| all.get(part).copied());
        name.map_or(made, |name| norm(parts, tower, &within(name), made))
    };
    let read = norm(parts, tower, &within(names.norms[0]), input);
    let [windows, picture] = shared.ends;
    let ends = windows.filter(|_| tower.sees_window(index)).or(picture).unwrap_or(shared.last);
    let attended = attend(parts, tower, &within(names.attention), (shared, ends), read);
    let attended = behind(parts, 0, attended);
    let between = parts.sketch.add(input, attended);
    let read = norm(parts, tower, &within(names.norms[1]), between);
    let made = network(parts, tower, &within(names.network), read);
    let made = behind(parts, 1, made);
    parts.sketch.add(between, made)
}

/// Attention of rotated patches within segments.
fn attend(
    parts: &mut Parts<'_, '_>,
    tower: &Patches,
    module: &str,
    (shared, ends): (&Shared, ValueId),
    read: ValueId,
) -> ValueId {
    let Shared { tables, first, last, .. } = shared;
    let inputs = inputs(parts, tower, module, read);
    parts.sketch.enter(module);
    let mut inputs = inputs.map(|own| parts.sketch.apart(own, tower.heads));
    if tower.has_head_norms {
        inputs = head_norms(parts, tower, module, inputs);
        parts.sketch.enter(module);
    }
    let (sketch, [query, keys, values]) = (&mut *parts.sketch, inputs);
    let [query, keys] = [query, keys].map(|heads| {
        let read = [heads, tables[0], tables[1], *first, *last];
        sketch.own("etbuild.rotate.default", &read, &[Argument::Bool(false)])
    });
    let scale = if tower.has_head_norms { 1.0 } else { (tower.depth as f64).powf(-0.5) };
    let attended = sketch.attention_within([query, keys, values], ends, scale);
    let [wide, _] = tower.heads_widths();
    project(parts, tower, &format!("{module}.{}", tower.names.output), attended, [tower.width, wide])
}

/// Queries, keys and values, `[1, n, heads * depth]` each.
fn inputs(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, read: ValueId) -> [ValueId; 3] {
    let (width, names, [wide, narrow]) = (tower.width, tower.names.inputs, tower.heads_widths());
    let within = |name: &str| format!("{module}.{name}");
    if let [query, keys, values] = *names {
        let named = [(query, wide, true), (keys, narrow, true), (values, narrow, false)];
        return named.map(|(name, rows, turned)| {
            let order = tower.head_order(turned, rows / tower.depth.max(1));
            ordered(parts, tower, &within(name), read, ([rows, width], order))
        });
    }
    let name = within(names.first().copied().unwrap_or_default());
    let all = project(parts, tower, &name, read, [wide + 2 * narrow, width]);
    parts.sketch.enter(module);
    [0, 1, 2].map(|index| parts.sketch.slice(all, 2, index * wide, (index + 1) * wide))
}

/// Normalized heads, `[1, n, heads, depth]` each: values without weights.
fn head_norms(
    parts: &mut Parts<'_, '_>,
    tower: &Patches,
    module: &str,
    [query, keys, values]: [ValueId; 3],
) -> [ValueId; 3] {
    let (order, epsilon) = (tower.element_order(), tower.epsilon);
    let norm = |has_weights: bool| Norm {
        kind: NormKind::RootMeanSquare,
        epsilon,
        has_weights,
        less_one: false,
        has_biases: false,
    };
    let [query, keys] = [("q_norm", query), ("k_norm", keys)].map(|(name, heads)| {
        let module = format!("{module}.{name}");
        parts.sketch.enter(module.as_str());
        let gains = parts.weights.ordered_vector(&format!("{module}.weight"), &order, tower.depth);
        let gains = parts.sketch.constant(&gains);
        parts.sketch.norm(heads, [Some(gains), None], norm(true))
    });
    parts.sketch.enter(format!("{module}.v_norm"));
    [query, keys, parts.sketch.norm(values, [None; 2], norm(false))]
}

fn network(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, read: ValueId) -> ValueId {
    let Patches { width, inner, activation, is_gated, .. } = *tower;
    let within = |name: &str| format!("{module}.{name}");
    if !is_gated {
        let [first, second] = tower.names.projections;
        let wide = project(parts, tower, &within(first), read, [inner, width]);
        let bent = parts.sketch.activate(wide, activation);
        return project(parts, tower, &within(second), bent, [width, inner]);
    }
    let [gate, up, down] = tower.names.gated;
    let [gate, up] = [gate, up].map(|name| project(parts, tower, &within(name), read, [inner, width]));
    let bent = parts.sketch.activate(gate, activation);
    let gated = parts.sketch.multiply(bent, up);
    project(parts, tower, &within(down), gated, [width, inner])
}

/// A projection of `[columns]` to `[rows]`.
fn project(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, input: ValueId, sizes: [usize; 2]) -> ValueId {
    ordered(parts, tower, module, input, (sizes, None))
}

/// A projection, whose rows are in another order, if any.
fn ordered(
    parts: &mut Parts<'_, '_>,
    tower: &Patches,
    module: &str,
    input: ValueId,
    ([rows, columns], order): ([usize; 2], Option<Vec<usize>>),
) -> ValueId {
    let input = clipped(parts, tower, module, "input", input);
    let made = match order {
        None => parts.linear(module, input, [rows, columns], tower.has_biases),
        Some(order) => {
            let Parts { sketch, weights } = parts;
            sketch.enter(module);
            let matrix = weights.ordered_rows(&format!("{module}.weight"), &order, [rows, columns]);
            let bias = tower.has_biases.then(|| weights.ordered_vector(&format!("{module}.bias"), &order, rows));
            let bias = bias.map(|bias| sketch.constant(&bias));
            sketch.product(input, &matrix, bias)
        }
    };
    clipped(parts, tower, module, "output", made)
}

/// The input or the output of a projection within the limits of the checkpoint, where it has such.
fn clipped(parts: &mut Parts<'_, '_>, tower: &Patches, module: &str, side: &str, value: ValueId) -> ValueId {
    if !tower.is_clipped {
        return value;
    }
    // The limits are beside the module of the matrix.
    let (outer, _) = module.rsplit_once('.').unwrap_or((module, ""));
    let limits = ["min", "max"].map(|end| parts.weights.scalar(&format!("{outer}.{side}_{end}")));
    if limits.iter().any(|limit| limit.is_finite()) { parts.sketch.within(value, limits) } else { value }
}

impl Patches {
    /// The elements of a head in the order in which pairs are across both halves, of rows and then of columns.
    fn element_order(&self) -> Vec<usize> {
        let quarter = self.depth / 4;
        let quarters = match self.turning {
            PatchTurning::Across | PatchTurning::Between => return (0..self.depth).collect(),
            PatchTurning::Within => [2, 0, 3, 1],
        };
        quarters.into_iter().flat_map(|first| first * quarter..(first + 1) * quarter).collect()
    }

    /// The rows of a projection to so many heads, `turned` or not, as many heads as there are of queries; `None` for the stored order.
    fn head_order(&self, turned: bool, heads: usize) -> Option<Vec<usize>> {
        let is_turned = turned && self.turning == PatchTurning::Within;
        if !is_turned && heads == self.heads {
            return None;
        }
        let elements = if is_turned { self.element_order() } else { (0..self.depth).collect() };
        let group = (self.heads / heads.max(1)).max(1);
        let of_head = |head: usize| elements.iter().map(move |element| head / group * self.depth + element);
        Some((0..self.heads).flat_map(of_head).collect())
    }
}
