//! Products in tiles: an invocation has several rows, and eight neighbours have neighbouring rows.
//!
//! Where the eight are a subgroup, each invocation loads a part of the right operand, and all exchange the parts. Otherwise each
//! invocation loads the whole right operand.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place};
use crate::kernel::Entry;
use crate::tensor::TEXEL;

use super::{RightTexel, Site, declare, sum};

/// The invocations that have neighbouring rows.
pub const LANES: usize = 8;

/// The columns of a tile.
const COLUMNS: usize = 8;

/// The most rows of an invocation, and the most tiles of columns in a workgroup.
const MOST: usize = 4;

/// A tile of a kernel.
struct Tile<'s, 'p> {
    site: &'s Site<'p>,
    /// The rows of an invocation.
    rows: usize,
    /// The tiles of columns in a workgroup.
    across: usize,
    /// Whether the lanes are a subgroup.
    exchanges: bool,
}

/// Writes the kernel; its entry point.
pub fn write(site: &Site<'_>, emitter: &mut Emitter<'_>, exchanges: bool) -> Entry {
    let (rows, columns) = (site.product.row_count(), site.product.column_count());
    let across = columns.div_ceil(COLUMNS).min(MOST);
    let tile = Tile { site, rows: rows_of(rows), across, exchanges };
    tile.write(emitter);
    let head = format!(
        "@workgroup_size({LANES}, {across}) fn main(@builtin(local_invocation_id) local: vec3<u32>, \
         @builtin(workgroup_id) group: vec3<u32>) "
    );
    let [x, y] = [rows.div_ceil(LANES * tile.rows), columns.div_ceil(COLUMNS * across)];
    Entry { head, begin: String::new(), workgroups: [x as u32, y as u32, site.product.batch_count() as u32] }
}

/// The rows of an invocation for as little work as possible, where a row costs about three loads of the right operand.
fn rows_of(rows: usize) -> usize {
    let cost = |tile: usize| rows.div_ceil(LANES * tile) * (1 + 3 * tile);
    (1..=MOST).min_by_key(|tile| (cost(*tile), *tile)).unwrap_or(1)
}

impl Tile<'_, '_> {
    fn write(&self, emitter: &mut Emitter<'_>) {
        let product = self.site.product;
        let (rows, columns) = (product.row_count(), product.column_count());
        let is_whole = rows.is_multiple_of(LANES * self.rows);
        emitter.line("let lane = i32(local.x);");
        emitter.line(&format!("let column = (i32(group.y) * {}i + i32(local.y)) * {COLUMNS}i;", self.across));
        emitter.line(&format!("let first = i32(group.x) * {}i + lane;", LANES * self.rows));
        let limit = self.site.column_limit(emitter);
        emitter.line(&format!("if (column >= {limit}) {{ return; }}"));
        let has_batch = product.batch_count() > 1;
        let batch = if has_batch { Value::Text(emitter.variable("i32(group.z)")) } else { Value::Known(0) };
        let numbers: Vec<String> =
            (0..self.rows).map(|row| emitter.variable(&format!("first + {}i", row * LANES))).collect();
        // Rows behind the last are computed like it, and not stored.
        let clamped = |emitter: &mut Emitter<'_>, number: &String| match is_whole {
            true => Value::Text(number.clone()),
            false => Value::Text(emitter.variable(&format!("min({number}, {}i)", rows - 1))),
        };
        let at: Vec<Vec<Value>> = numbers
            .iter()
            .map(|number| {
                let row = clamped(emitter, number);
                let at = product.coordinates(&row, &batch, &Value::Text("column".to_owned()));
                at.into_iter().map(|value| emitter.named(value)).collect()
            })
            .collect();
        self.sums(emitter, &at);
        for (row, number) in numbers.iter().enumerate() {
            if !is_whole {
                emitter.open(&format!("if ({number} < {rows}i)"));
            }
            for slice in 0..COLUMNS / TEXEL {
                let sums: Vec<String> = (0..TEXEL).map(|lane| sum(row, slice * TEXEL + lane)).collect();
                let guard = slice > 0 && !columns.is_multiple_of(COLUMNS);
                if guard {
                    emitter.open(&format!("if (column + {}i < {columns}i)", slice * TEXEL));
                }
                let own = Value::Text(emitter.variable(&format!("(column >> 2u) + {slice}i")));
                self.site.target().store(emitter, &at[row], &own, &sums);
                if guard {
                    emitter.close("");
                }
            }
            if !is_whole {
                emitter.close("");
            }
        }
    }

    /// Adds all products.
    fn sums(&self, emitter: &mut Emitter<'_>, rows: &[Vec<Value>]) {
        declare(emitter, self.rows, COLUMNS);
        let positions = self.site.open_positions(emitter);
        let left: Vec<Vec<Value>> = rows.iter().map(|row| [&row[..], &positions].concat()).collect();
        let inside: Vec<Option<String>> = left.iter().map(|at| self.site.inside(emitter, at)).collect();
        // A step is what the lanes load of the right operand at a time.
        let step = if self.site.product.right_texel == RightTexel::Inner { TEXEL } else { LANES };
        let (index, _) = self.site.open_steps(emitter, step, ["0i", "1i"]);
        let right = match self.site.product.right_texel {
            RightTexel::Inner => self.right_by_column(emitter, &left[0], &index),
            RightTexel::Columns => self.right_by_index(emitter, &left[0], &index),
        };
        for part in 0..step / TEXEL {
            let slice = match step / TEXEL {
                1 => Value::Text(index.clone()),
                parts => Value::Text(format!("({index} * {parts}i + {part}i)")),
            };
            for (row, at) in left.iter().enumerate() {
                let values = self.site.load_left(emitter, at, &slice, inside[row].as_deref());
                for (value, factors) in values.iter().zip(&right[part * TEXEL..]) {
                    for (column, factor) in factors.iter().enumerate() {
                        let sum = sum(row, column);
                        emitter.line(&format!("{sum} = {sum} + {value} * {factor};"));
                    }
                }
            }
        }
        emitter.close("");
        self.site.close_positions(emitter);
    }

    /// The right operand by index of the inner dimension in a step, and column, where texels hold the inner dimension.
    fn right_by_column(&self, emitter: &mut Emitter<'_>, at: &[Value], index: &str) -> Vec<Vec<String>> {
        let columns = self.site.product.column_count();
        let of_column = |emitter: &mut Emitter<'_>, offset: &str| {
            let column = match columns.is_multiple_of(COLUMNS) {
                true => format!("column + {offset}"),
                false => format!("min(column + {offset}, {}i)", columns - 1),
            };
            let column = Value::Text(emitter.variable(&column));
            let slice = Value::Text(index.to_owned());
            let pairs = (0..TEXEL).map(|lane| (column.clone(), Value::channel(&slice, lane))).collect();
            self.load(emitter, at, pairs)
        };
        if self.exchanges {
            let own = of_column(emitter, "lane");
            return own
                .iter()
                .map(|value| (0..COLUMNS).map(|lane| exchanged(emitter, value, lane)).collect())
                .collect();
        }
        let by_column: Vec<Vec<String>> =
            (0..COLUMNS).map(|offset| of_column(emitter, &format!("{offset}i"))).collect();
        (0..TEXEL).map(|lane| by_column.iter().map(|values| values[lane].clone()).collect()).collect()
    }

    /// The same where texels hold columns.
    fn right_by_index(&self, emitter: &mut Emitter<'_>, at: &[Value], index: &str) -> Vec<Vec<String>> {
        let (inner, columns) = (self.site.product.inner, self.site.product.column_count());
        let last = columns.div_ceil(TEXEL) - 1;
        let of_index = |emitter: &mut Emitter<'_>, offset: &str| {
            let own = match inner.is_multiple_of(LANES) {
                true => format!("{index} * {LANES}i + {offset}"),
                false => format!("min({index} * {LANES}i + {offset}, {}i)", inner - 1),
            };
            let own = Value::Text(emitter.variable(&own));
            let mut pairs = Vec::new();
            for slice in 0..COLUMNS / TEXEL {
                let text = match columns.is_multiple_of(COLUMNS) {
                    true => format!("(column >> 2u) + {slice}i"),
                    false => format!("min((column >> 2u) + {slice}i, {last}i)"),
                };
                let slice = Value::Text(emitter.variable(&text));
                pairs.extend((0..TEXEL).map(|lane| (Value::channel(&slice, lane), own.clone())));
            }
            self.load(emitter, at, pairs)
        };
        if self.exchanges {
            let own = of_index(emitter, "lane");
            let from =
                |emitter: &mut Emitter<'_>, lane| own.iter().map(|value| exchanged(emitter, value, lane)).collect();
            return (0..LANES).map(|lane| from(emitter, lane)).collect();
        }
        (0..LANES).map(|offset| of_index(emitter, &format!("{offset}i"))).collect()
    }

    /// The right operand at pairs of a column and an index of the inner dimension.
    fn load(&self, emitter: &mut Emitter<'_>, at: &[Value], pairs: Vec<(Value, Value)>) -> Vec<String> {
        let places: Vec<Place> = pairs
            .into_iter()
            .map(|(column, index)| {
                let mut at = at.to_vec();
                at[self.site.product.column] = column;
                at.push(index);
                emitter.place(at)
            })
            .collect();
        emitter.values(self.site.product.right, &places).iter().map(Value::text).collect()
    }
}

/// The value that a lane of the subgroup has.
fn exchanged(emitter: &mut Emitter<'_>, value: &str, lane: usize) -> String {
    emitter.variable(&format!("subgroupBroadcast({value}, {lane}u)"))
}
