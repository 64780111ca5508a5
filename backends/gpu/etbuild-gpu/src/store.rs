//! Kernels that store an expression: an invocation for each word or texel of the tensor.

use et_core::ScalarType;

use crate::coordinate::{Value, element_index};
use crate::emitter::{Emitter, Place, Scope};
use crate::expr::{ExprId, IndexOp, TensorId};
use crate::kernel::{Kernel, Stores, counted, shared};
use crate::profile::Profile;
use crate::sharing::{Sharing, folds_by_row};
use crate::tensor::{Layout, Storage, TEXEL, Tensor, Texels};

/// The kernel that stores an expression.
pub fn kernel(scope: Scope<'_>, profile: Profile, expr: ExprId, output: TensorId, label: &str) -> Kernel {
    let tensor = scope.tensor(output);
    if let Some((column, texels)) = row(scope, expr, tensor) {
        return row_kernel(scope, expr, output, label, (column, texels));
    }
    let sharing = Sharing::of(scope.exprs, expr, tensor, profile.units);
    let mut emitter = Emitter::sharing(scope, sharing);
    let has_neighbours = sharing.is_none() && scope.exprs.folds(expr);
    let count = match &tensor.layout {
        Layout::Elements(strides) => elements(&mut emitter, expr, tensor, strides),
        Layout::Texels(texels) => all_texels(&mut emitter, expr, tensor, texels, has_neighbours),
    };
    let entry = sharing.map_or_else(|| counted(count), |sharing| shared(count, sharing, Stores::First));
    Kernel::new(emitter, entry, output, label)
}

/// The columns of a tensor in texels, if the expression folds by row.
fn row<'t>(scope: Scope<'_>, expr: ExprId, tensor: &'t Tensor) -> Option<(usize, &'t Texels)> {
    let texels = tensor.layout.as_texels()?;
    let is_row = texels.channel + 1 == tensor.sizes.len() && scope.exprs.folds(expr);
    (is_row && folds_by_row(scope.exprs, expr, texels.channel)).then_some((texels.channel, texels))
}

/// The kernel whose lanes fold a row, and then store the texels of the row.
fn row_kernel(
    scope: Scope<'_>,
    expr: ExprId,
    output: TensorId,
    label: &str,
    (column, texels): (usize, &Texels),
) -> Kernel {
    let tensor = scope.tensor(output);
    let slices = tensor.sizes[column].div_ceil(TEXEL);
    let sharing = Sharing::of_rows(slices);
    let mut emitter = Emitter::sharing(scope, Some(sharing));
    let dims: Vec<usize> = (0..column).collect();
    let mut at = named_coordinates(&mut emitter, "n", &dims, &tensor.sizes);
    let place = emitter.place(at.clone());
    emitter.fold_ahead(expr, place, &[column]);
    emitter.open(&format!("for (var slice: i32 = lane; slice < {slices}i; slice = slice + {}i)", sharing.lanes));
    at[column] = Value::Text("slice".to_owned());
    texel(&mut emitter, expr, tensor, texels, &[at]);
    emitter.close("");
    let rows = dims.iter().map(|dim| tensor.sizes[*dim]).product();
    Kernel::new(emitter, shared(rows, sharing, Stores::All), output, label)
}

/// Rows that are written to places of a tensor, which keeps the rest of its elements.
pub struct RowWrite {
    /// The shape of the rows, which differs from the tensor's in one dimension.
    pub sizes: Vec<usize>,
    /// The elements.
    pub rows: ExprId,
    /// The dimension of the rows.
    pub dim: usize,
    /// The index in the tensor of each row.
    pub slot: ExprId,
    /// Whether the row is written.
    pub is_written: ExprId,
}

/// The kernel that writes rows.
pub fn rows_kernel(scope: Scope<'_>, write: &RowWrite, output: TensorId, label: &str) -> Kernel {
    let tensor = scope.tensor(output);
    let mut emitter = Emitter::new(scope);
    let rank = write.sizes.len();
    let mut sizes = write.sizes.clone();
    if let Some(texels) = tensor.layout.as_texels() {
        sizes[texels.channel] = sizes[texels.channel].div_ceil(TEXEL);
    }
    let dims: Vec<usize> = (0..rank).collect();
    let at = named_coordinates(&mut emitter, "n", &dims, &sizes);
    let place = emitter.place(at.clone());
    let is_written = emitter.text(write.is_written, place);
    emitter.line(&format!("if (!{is_written}) {{ return; }}"));
    let mut target = at.clone();
    target[write.dim] = Value::Text(emitter.text(write.slot, place));
    match &tensor.layout {
        Layout::Texels(texels) => {
            let lanes: Vec<String> = (0..TEXEL)
                .map(|lane| {
                    let mut at = at.clone();
                    at[texels.channel] = Value::channel(&at[texels.channel], lane);
                    let place = emitter.place(at);
                    emitter.text(write.rows, place)
                })
                .collect();
            let line = write_texel(tensor, texels, &texels.place(&target), &lanes);
            emitter.line(&line);
        }
        Layout::Elements(strides) => {
            let text = emitter.text(write.rows, place);
            emitter.line(&format!("out[{}] = {text};", element_index(&target, strides).text()));
        }
    }
    Kernel::new(emitter, counted(sizes.iter().product()), output, label)
}

/// The coordinates of dimensions that a number counts, outermost first.
pub fn counted_coordinates(number: &Value, dims: &[usize], sizes: &[usize], rank: usize) -> Vec<Value> {
    let mut coordinates = vec![Value::Known(0); rank];
    let mut stride = 1;
    for (position, dim) in dims.iter().enumerate().rev() {
        if sizes[*dim] > 1 {
            let quotient = Value::arithmetic(IndexOp::Div, number, &Value::Known(stride));
            let is_outermost = dims[..position].iter().all(|outer| sizes[*outer] <= 1);
            let size = Value::Known(sizes[*dim]);
            coordinates[*dim] = if is_outermost { quotient } else { Value::arithmetic(IndexOp::Rem, &quotient, &size) };
        }
        stride *= sizes[*dim].max(1);
    }
    coordinates
}

/// The same as variables where they are computed.
fn named_coordinates(emitter: &mut Emitter<'_>, number: &str, dims: &[usize], sizes: &[usize]) -> Vec<Value> {
    let coordinates = counted_coordinates(&Value::Text(number.to_owned()), dims, sizes, sizes.len());
    coordinates.into_iter().map(|value| emitter.named(value)).collect()
}

/// Stores the elements of a word; returns the number of words.
fn elements(emitter: &mut Emitter<'_>, expr: ExprId, tensor: &Tensor, strides: &[usize]) -> usize {
    let per_word = (4 / tensor.scalar_type.size().max(1)).max(1);
    let numel = tensor.numel();
    let mut dims: Vec<usize> = (0..tensor.sizes.len()).collect();
    dims.sort_by_key(|dim| std::cmp::Reverse(if tensor.sizes[*dim] == 1 { usize::MAX } else { strides[*dim] }));
    if per_word == 1 {
        let coordinates = named_coordinates(emitter, "n", &dims, &tensor.sizes);
        let place = emitter.place(coordinates);
        let text = emitter.text(expr, place);
        emitter.store(&format!("out[n] = {text};"));
        return numel;
    }
    emitter.line("var word: u32 = 0u;");
    for lane in 0..per_word {
        let index = emitter.variable(&format!("n * {per_word}i + {lane}i"));
        let is_partial = lane > 0 && !numel.is_multiple_of(per_word);
        if is_partial {
            emitter.open(&format!("if ({index} < {numel}i)"));
        }
        let coordinates = named_coordinates(emitter, &index, &dims, &tensor.sizes);
        let place = emitter.place(coordinates);
        let text = emitter.text(expr, place);
        let bits = encoded(&text, tensor.scalar_type);
        let shift = lane * (32 / per_word);
        emitter.line(&format!("word = word | ({bits} << {shift}u);"));
        if is_partial {
            emitter.close("");
        }
    }
    emitter.store("out[n] = word;");
    numel.div_ceil(per_word)
}

/// The bits of a narrow element, in the low bits of a word.
fn encoded(text: &str, scalar_type: ScalarType) -> String {
    match scalar_type {
        ScalarType::Bool => format!("select(0u, 1u, {text})"),
        ScalarType::Half => format!("(pack2x16float(vec2<f32>({text}, 0.0f)) & 65535u)"),
        ScalarType::BFloat16 => format!("bf16({text})"),
        ScalarType::Short => format!("(bitcast<u32>({text}) & 65535u)"),
        _ => format!("(bitcast<u32>({text}) & 255u)"),
    }
}

/// The texels of an invocation that folds: neighbours in the innermost dimension, which share what does not depend on it.
const TOGETHER: usize = 4;

/// With fewer invocations, each stores one texel.
const LEAST_INVOCATIONS: usize = 512;

/// Stores texels by number; returns the number of invocations.
fn all_texels(emitter: &mut Emitter<'_>, expr: ExprId, tensor: &Tensor, texels: &Texels, folds: bool) -> usize {
    let rank = tensor.sizes.len();
    let mut sizes = tensor.sizes.clone();
    sizes[texels.channel] = sizes[texels.channel].div_ceil(TEXEL);
    // Neighbouring invocations have neighbouring texels of a slice.
    let mut dims: Vec<usize> = (0..rank).filter(|dim| *dim != texels.channel).collect();
    dims.insert(dims.len().saturating_sub(2), texels.channel);
    let along = dims.last().copied().filter(|along| folds && *along != texels.channel);
    let together = along.map_or(1, |along| together(sizes[along]));
    let together = if texels.count() / together < LEAST_INVOCATIONS { 1 } else { together };
    let counted: Vec<usize> =
        (0..rank).map(|dim| if Some(dim) == along { sizes[dim] / together } else { sizes[dim] }).collect();
    let coordinates = named_coordinates(emitter, "n", &dims, &counted);
    let neighbours: Vec<Vec<Value>> = (0..together)
        .map(|offset| {
            let mut at = coordinates.clone();
            if let Some(along) = along.filter(|_| together > 1) {
                let first = at[along].times(&Value::Known(together));
                at[along] = emitter.named(Value::Text(first.plus(&Value::Known(offset)).text()));
            }
            at
        })
        .collect();
    texel(emitter, expr, tensor, texels, &neighbours);
    texels.count() / together
}

/// The neighbours that an invocation takes of a dimension of this size.
fn together(size: usize) -> usize {
    let divides = |count: &usize| size.is_multiple_of(*count);
    (2..=TOGETHER).rev().find(divides).or_else(|| (TOGETHER..2 * TOGETHER).find(divides)).unwrap_or(1)
}

/// Stores the texels at these coordinates, of which the channel is that of the slice, and equal for all.
pub fn texel(emitter: &mut Emitter<'_>, expr: ExprId, tensor: &Tensor, texels: &Texels, all: &[Vec<Value>]) {
    let slice = all[0][texels.channel].clone();
    let channels = tensor.sizes[texels.channel];
    let places: Vec<Place> = (0..TEXEL)
        .flat_map(|lane| all.iter().map(move |coordinates| (lane, coordinates)))
        .map(|(lane, coordinates)| {
            let mut at = coordinates.clone();
            at[texels.channel] = Value::channel(&slice, lane);
            emitter.place(at)
        })
        .collect();
    // Only the last slice has lanes without a channel, which hold 0.
    let rest = channels % TEXEL;
    let whole = all.len() * if rest == 0 { TEXEL } else { rest };
    let mut lanes: Vec<String> = emitter.values(expr, &places[..whole]).iter().map(Value::text).collect();
    if whole < places.len() {
        let names: Vec<String> = places[whole..].iter().map(|_| emitter.name("c")).collect();
        names.iter().for_each(|name| emitter.line(&format!("var {name}: f32 = 0.0f;")));
        emitter.open(&format!("if ({} < {}i)", slice.text(), channels / TEXEL));
        for (name, value) in names.iter().zip(emitter.values(expr, &places[whole..])) {
            emitter.line(&format!("{name} = {};", value.text()));
        }
        emitter.close("");
        lanes.extend(names);
    }
    for (position, coordinates) in all.iter().enumerate() {
        let at = texels.place(coordinates);
        let own: Vec<String> = lanes.iter().skip(position).step_by(all.len()).cloned().collect();
        let line = write_texel(tensor, texels, &at, &own);
        emitter.store(&line);
    }
}

/// The statement that stores a texel.
fn write_texel(tensor: &Tensor, texels: &Texels, at: &[Value; 3], lanes: &[String]) -> String {
    let is_half = tensor.scalar_type == ScalarType::Half;
    let pair = |lanes: &[String]| format!("pack2x16float(vec2<f32>({}))", lanes.join(", "));
    let (low, high) = lanes.split_at(2.min(lanes.len()));
    match texels.storage {
        Storage::Image => {
            let [x, y, layer] = at.each_ref().map(Value::text);
            let layer = if texels.extent[2] > 1 { format!(", {layer}") } else { String::new() };
            // Drivers may truncate: the texel is rounded to nearest before.
            let texel = match is_half {
                true => format!("unpack2x16float({}), unpack2x16float({})", pair(low), pair(high)),
                false => lanes.join(", "),
            };
            format!("textureStore(out, vec2<i32>({x}, {y}){layer}, vec4<f32>({texel}));")
        }
        Storage::Buffer => {
            let texel = match is_half {
                true => format!("vec2<u32>({}, {})", pair(low), pair(high)),
                false => format!("vec4<f32>({})", lanes.join(", ")),
            };
            format!("out[{}] = {texel};", texels.index(at).text())
        }
    }
}
