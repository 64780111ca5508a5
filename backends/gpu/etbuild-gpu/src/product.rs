//! Products: sums of products over an inner dimension, with an epilogue.
//!
//! A kernel computes a tile of rows and columns in registers ([`tiled`]); with few rows, invocations have columns of their own
//! ([`few_rows`]).

mod attention;
mod few_rows;
mod lane_attention;
mod staged;
mod tiled;
mod tiling;

use crate::coordinate::{Value, element_index};
use crate::emitter::{Emitter, Place, Scope};
use crate::expr::{ExprId, TensorId};
use crate::kernel::{Entry, Kernel};
use crate::profile::Profile;
use crate::store::{counted_coordinates, texel};
use crate::tensor::{Layout, TEXEL};

pub use attention::Attention;
use lane_attention::LaneAttention;
pub use tiling::Tiling;

/// The computation of a product kernel before its epilogue.
#[derive(Clone, Debug)]
pub enum Producer {
    /// A product.
    Product(Product),
    /// Two products with a softmax between them.
    Attention(Attention),
}

impl Producer {
    /// The kernel that stores an expression of the result, for a class of GPUs.
    pub fn kernel(&self, scope: Scope<'_>, profile: Profile, epilogue: &Epilogue<'_>) -> Kernel {
        match self {
            Self::Product(product) => product.kernel(scope, profile, epilogue),
            Self::Attention(attention) => attention_kernel(attention, scope, profile, epilogue),
        }
    }

    /// The shape of the result, and its dimension of columns.
    pub fn sizes_and_column(&self) -> (&[usize], usize) {
        match self {
            Self::Product(Product { sizes, column, .. }) => (sizes, *column),
            Self::Attention(Attention { sizes, .. }) => (sizes, sizes.len() - 1),
        }
    }
}

fn attention_kernel(attention: &Attention, scope: Scope<'_>, profile: Profile, epilogue: &Epilogue<'_>) -> Kernel {
    match LaneAttention::of(attention, scope, epilogue, profile.units) {
        Some(kernel) => kernel.kernel(),
        None => attention.kernel(scope, profile.subgroup, epilogue),
    }
}

/// A product whose kernel is written with the epilogue.
///
/// The operands are expressions of the coordinates of the result, then of the kernel positions, then of the inner dimension.
#[derive(Clone, Debug)]
pub struct Product {
    /// The shape of the result.
    pub sizes: Vec<usize>,
    /// The dimensions that only the left operand depends on, outermost first.
    pub rows: Vec<usize>,
    /// The dimensions that both operands depend on, outermost first.
    pub batch: Vec<usize>,
    /// The dimension that the right operand depends on.
    pub column: usize,
    /// The columns of a group: from a multiple on, these have the same left operand. The number of columns without groups.
    pub group: usize,
    /// The extents of the kernel positions: the positions in the kernel of a convolution.
    pub positions: Vec<usize>,
    /// The extent of the inner dimension.
    pub inner: usize,
    /// The columns that are computed, and the indices of the inner dimension that are added, if those are known at run time only.
    pub limits: Limits,
    /// The left operand, sliced along the inner dimension.
    pub left: ExprId,
    /// Where the left operand is 0, whatever its expression is; not a function of the inner dimension.
    pub is_inside: Option<ExprId>,
    /// The right operand.
    pub right: ExprId,
    /// What a texel of the right operand holds.
    pub right_texel: RightTexel,
}

/// Extents that are known at run time only, at no coordinates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The number of columns.
    pub columns: Option<ExprId>,
    /// The extent of the inner dimension. Elements behind it are finite.
    pub inner: Option<ExprId>,
}

/// What a texel of the right operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightTexel {
    /// Four indices of the inner dimension of one column.
    Inner,
    /// Four columns of one index of the inner dimension.
    Columns,
}

/// With as many rows or fewer, invocations have columns of their own.
const FEW_ROWS: usize = 4;

/// What a kernel makes of a product.
pub struct Epilogue<'l> {
    /// The product itself.
    pub result: ExprId,
    /// The expression of the product that is stored.
    pub expr: ExprId,
    /// Where.
    pub output: TensorId,
    /// The value that the kernel computes.
    pub label: &'l str,
}

/// The kernel of a product under construction.
struct Site<'p> {
    product: &'p Product,
    scope: Scope<'p>,
    epilogue: &'p Epilogue<'p>,
}

impl Product {
    /// The kernel that stores an expression of the product, for a class of GPUs.
    fn kernel(&self, scope: Scope<'_>, profile: Profile, epilogue: &Epilogue<'_>) -> Kernel {
        let site = Site { product: self, scope, epilogue };
        if self.has_few_rows() {
            return site.kernel(|emitter| few_rows::write(&site, emitter, profile.units));
        }
        if let Some(Tiling { tile, .. }) = Tiling::of(self, &profile) {
            return site.kernel(|emitter| staged::write(&site, emitter, tile));
        }
        let plain = site.kernel(|emitter| tiled::write(&site, emitter, false));
        let subgroup = profile.subgroup;
        if subgroup as usize != tiled::LANES {
            return plain;
        }
        let exchanging = site.kernel(|emitter| tiled::write(&site, emitter, true));
        // Both access the same tensors in one order.
        let otherwise = (plain.reads == exchanging.reads).then_some(plain.source);
        Kernel { subgroup, otherwise, ..exchanging }
    }

    /// Whether invocations have columns of their own.
    pub fn has_few_rows(&self) -> bool {
        self.row_count() <= FEW_ROWS
    }

    fn row_count(&self) -> usize {
        self.rows.iter().map(|dim| self.sizes[*dim]).product()
    }

    fn batch_count(&self) -> usize {
        self.batch.iter().map(|dim| self.sizes[*dim]).product()
    }

    fn column_count(&self) -> usize {
        self.sizes[self.column]
    }

    /// The extent of the inner dimension over all kernel positions.
    fn depth(&self) -> usize {
        self.position_count() * self.inner
    }

    /// Whether the inner dimension is whole slices whose number is known.
    fn is_whole(&self) -> bool {
        self.limits.columns.is_none() && self.limits.inner.is_none() && self.inner.is_multiple_of(TEXEL)
    }

    fn position_count(&self) -> usize {
        self.positions.iter().product()
    }

    /// The coordinates of the result at a row, a batch and a column.
    fn coordinates(&self, row: &Value, batch: &Value, column: &Value) -> Vec<Value> {
        let rank = self.sizes.len();
        let rows = counted_coordinates(row, &self.rows, &self.sizes, rank);
        let batches = counted_coordinates(batch, &self.batch, &self.sizes, rank);
        let at = |dim: usize| match dim {
            _ if dim == self.column => column.clone(),
            _ if self.rows.contains(&dim) => rows[dim].clone(),
            _ => batches[dim].clone(),
        };
        (0..rank).map(at).collect()
    }
}

impl Site<'_> {
    /// The kernel whose statements `write` writes, with its entry point.
    fn kernel(&self, write: impl Fn(&mut Emitter<'_>) -> Entry) -> Kernel {
        let mut emitter = Emitter::new(self.scope);
        let entry = write(&mut emitter);
        Kernel::new(emitter, entry, self.epilogue.output, self.epilogue.label)
    }

    /// Where the results go.
    fn target(&self) -> Target<'_> {
        let Product { sizes, column, .. } = self.product;
        Target { scope: self.scope, epilogue: self.epilogue, sizes, column: *column }
    }

    /// The number of columns, WGSL.
    fn column_limit(&self, emitter: &mut Emitter<'_>) -> String {
        match self.product.limits.columns {
            None => format!("{}i", self.product.column_count()),
            Some(limit) => {
                let nowhere = emitter.place(Vec::new());
                emitter.text(limit, nowhere)
            }
        }
    }

    /// Opens the loop over steps of the inner dimension, from the first on with a stride; the index of the step, and the number of steps.
    fn open_steps(&self, emitter: &mut Emitter<'_>, step: usize, first_and_stride: [&str; 2]) -> (String, String) {
        let count = match self.product.limits.inner {
            None => format!("{}i", self.product.inner.div_ceil(step)),
            Some(limit) => {
                let nowhere = emitter.place(Vec::new());
                let limit = emitter.text(limit, nowhere);
                emitter.variable(&format!("(({limit} + {}i) / {step}i)", step - 1))
            }
        };
        (self.open_loop(emitter, &count, first_and_stride), count)
    }

    /// Opens a loop to a number, from the first index on with a stride; the index.
    fn open_loop(&self, emitter: &mut Emitter<'_>, count: &str, [first, stride]: [&str; 2]) -> String {
        let index = emitter.name("k");
        emitter.open(&format!("for (var {index}: i32 = {first}; {index} < {count}; {index} = {index} + {stride})"));
        index
    }

    /// Opens the loops over the kernel positions; the index of each.
    fn open_positions(&self, emitter: &mut Emitter<'_>) -> Vec<Value> {
        let mut open = |extent: &usize| {
            if *extent == 1 {
                return Value::Known(0);
            }
            let index = emitter.name("i");
            emitter.open(&format!("for (var {index}: i32 = 0i; {index} < {extent}i; {index} = {index} + 1i)"));
            Value::Text(index)
        };
        self.product.positions.iter().map(&mut open).collect()
    }

    fn close_positions(&self, emitter: &mut Emitter<'_>) {
        self.product.positions.iter().filter(|extent| **extent > 1).for_each(|_| emitter.close(""));
    }

    /// Whether the left operand at coordinates is inside; `None` where it always is.
    fn inside(&self, emitter: &mut Emitter<'_>, at: &[Value]) -> Option<String> {
        let condition = self.product.is_inside?;
        let place = emitter.place(at.to_vec());
        Some(emitter.text(condition, place))
    }

    /// Four indices of the inner dimension of a row.
    fn load_left(&self, emitter: &mut Emitter<'_>, at: &[Value], slice: &Value, inside: Option<&str>) -> Vec<String> {
        let at_lane = |lane: usize| [at, &[Value::channel(slice, lane)]].concat();
        let places: Vec<Place> = (0..TEXEL).map(|lane| emitter.place(at_lane(lane))).collect();
        let values = emitter.values(self.product.left, &places);
        let mut checked = |value: &Value| match inside {
            Some(inside) => emitter.variable(&format!("select(0.0f, {}, {inside})", value.text())),
            None => value.text(),
        };
        values.iter().map(&mut checked).collect()
    }
}

/// Where results go: columns of a shape, through an epilogue.
struct Target<'p> {
    scope: Scope<'p>,
    epilogue: &'p Epilogue<'p>,
    sizes: &'p [usize],
    column: usize,
}

impl Target<'_> {
    /// Stores the epilogue of the four columns of a slice, whose sums have these names, at the coordinates of a row.
    fn store(&self, emitter: &mut Emitter<'_>, at: &[Value], slice: &Value, sums: &[String]) {
        let tensor = self.scope.tensor(self.epilogue.output);
        let column = self.column;
        let places: Vec<Place> = (0..TEXEL)
            .map(|lane| {
                let mut at = at.to_vec();
                at[column] = Value::channel(slice, lane);
                emitter.place(at)
            })
            .collect();
        for (place, sum) in places.iter().zip(sums) {
            emitter.define(self.epilogue.result, *place, sum);
        }
        match &tensor.layout {
            Layout::Texels(texels) => {
                let mut coordinates = at.to_vec();
                coordinates[column] = slice.clone();
                texel(emitter, self.epilogue.expr, tensor, texels, &[coordinates]);
            }
            Layout::Elements(strides) => {
                let count = self.sizes[self.column];
                for (lane, place) in places.into_iter().enumerate() {
                    let is_partial = lane > 0 && !count.is_multiple_of(TEXEL);
                    if is_partial {
                        emitter.open(&format!("if ({} < {count}i)", Value::channel(slice, lane).text()));
                    }
                    let text = emitter.text(self.epilogue.expr, place);
                    let index = element_index(emitter.coordinates(place), strides);
                    emitter.line(&format!("out[{}] = {text};", index.text()));
                    if is_partial {
                        emitter.close("");
                    }
                }
            }
        }
    }
}

/// The sum of a row and a column of a tile.
fn sum(row: usize, column: usize) -> String {
    format!("s{row}_{column}")
}

/// Declares the sums of a tile.
fn declare(emitter: &mut Emitter<'_>, rows: usize, columns: usize) {
    for row in 0..rows {
        for column in 0..columns {
            emitter.line(&format!("var {}: f32 = 0.0f;", sum(row, column)));
        }
    }
}
