//! Products whose workgroups stage tiles of both operands in workgroup memory: for GPUs, whose invocations run side by side.
//!
//! An invocation has a block of the tile in registers, and loads the next part of both operands while the workgroup multiplies the
//! staged one.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place};
use crate::kernel::Entry;
use crate::store::counted_coordinates;
use crate::tensor::TEXEL;

use super::tiling::{DEPTH, SLICES, Tile};
use super::{RightTexel, Site};

/// Writes the kernel; its entry point.
pub fn write(site: &Site<'_>, emitter: &mut Emitter<'_>, tile: Tile) -> Entry {
    Staging::new(site, emitter, tile).write(emitter);
    let head = format!(
        "@workgroup_size({}) fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) ",
        tile.invocations()
    );
    let workgroups = tile.workgroups(site.product).map(|count| count as u32);
    Entry { head, begin: String::new(), workgroups }
}

/// The kernel under construction.
struct Staging<'s, 'p> {
    site: &'s Site<'p>,
    tile: Tile,
    /// The staged parts of the left and of the right operand: rows and columns of an index of the inner dimension side by side.
    left: Staged,
    right: Staged,
    /// Whether steps of the inner dimension go on from a kernel position to the next.
    is_joined: bool,
}

/// An operand's part in workgroup memory.
struct Staged {
    name: String,
    /// The vectors from an index of the inner dimension to the next. Stores of neighbours in the inner dimension then meet other banks.
    stride: usize,
    /// The parts that an invocation loads.
    loads: usize,
}

/// A place of the inner dimension in a step.
struct Inner {
    positions: Vec<Value>,
    slice: Value,
    /// Whether the slice exists, where some do not.
    exists: Option<String>,
}

impl<'s, 'p> Staging<'s, 'p> {
    fn new(site: &'s Site<'p>, emitter: &mut Emitter<'_>, tile: Tile) -> Self {
        let mut staged = |prefix: &str, size: usize| {
            let stride = Tile::stride(size);
            let name = emitter.workgroup_variable(prefix, &format!("array<vec4<f32>, {}>", DEPTH * stride));
            Staged { name, stride, loads: size * SLICES / tile.invocations() }
        };
        let (left, right) = (staged("left", tile.rows), staged("right", tile.columns));
        let product = site.product;
        let is_joined = product.inner.div_ceil(TEXEL) < SLICES && product.position_count() > 1;
        Self { site, tile, left, right, is_joined }
    }

    fn write(&self, emitter: &mut Emitter<'_>) {
        let (product, tile) = (self.site.product, self.tile);
        let [along, across] = tile.lanes();
        emitter.line("let lane = i32(local);");
        // Neighbours in a feature map are rows, those of a matrix are columns.
        let [row, column] = match self.is_window() {
            true => [format!("lane % {along}i"), format!("lane / {along}i")],
            false => [format!("lane / {across}i"), format!("lane % {across}i")],
        };
        emitter.line(&format!("let lane_row = {row};"));
        emitter.line(&format!("let lane_column = {column};"));
        emitter.line(&format!("let first = i32(group.x) * {}i;", tile.rows));
        emitter.line(&format!("let column = i32(group.y) * {}i;", tile.columns));
        let limit = self.site.column_limit(emitter);
        if product.limits.columns.is_some() {
            emitter.line(&format!("if (column >= {limit}) {{ return; }}"));
        }
        let has_batch = product.batch_count() > 1;
        let batch = if has_batch { Value::Text(emitter.variable("i32(group.z)")) } else { Value::Known(0) };
        let rows: Vec<Vec<Value>> = (0..self.left.loads).map(|load| self.left_row(emitter, load, &batch)).collect();
        for row in 0..tile.each[0] {
            (0..tile.each[1] / TEXEL)
                .for_each(|slice| emitter.line(&format!("var s{row}_{slice}: vec4<f32> = vec4<f32>();")));
        }
        self.multiply(emitter, &rows);
        self.store(emitter, &batch);
    }

    fn is_window(&self) -> bool {
        self.site.product.position_count() > 1 || self.site.product.rows.len() > 1
    }

    /// The coordinates of the row that an invocation loads a slice of.
    fn left_row(&self, emitter: &mut Emitter<'_>, load: usize, batch: &Value) -> Vec<Value> {
        let product = self.site.product;
        let number = emitter.variable(&format!("first + {}", self.left_place(load).0));
        let row = match product.row_count().is_multiple_of(self.tile.rows) {
            true => number,
            false => emitter.variable(&format!("min({number}, {}i)", product.row_count() - 1)),
        };
        let at = product.coordinates(&Value::Text(row), batch, &Value::Text("column".to_owned()));
        at.into_iter().map(|value| emitter.named(value)).collect()
    }

    /// The row in the tile, and the slice in the step, of an invocation's load.
    fn left_place(&self, load: usize) -> (String, String) {
        let number = format!("(lane + {}i)", load * self.tile.invocations());
        match self.is_window() {
            true => (format!("{number} % {}i", self.tile.rows), format!("{number} / {}i", self.tile.rows)),
            false => (format!("{number} / {SLICES}i"), format!("{number} % {SLICES}i")),
        }
    }

    /// The column in the tile, and the slice in the step; or the slice of columns, and the index in the step.
    fn right_place(&self, load: usize) -> (String, String) {
        let number = format!("(lane + {}i)", load * self.tile.invocations());
        match self.site.product.right_texel {
            RightTexel::Inner => (format!("{number} / {SLICES}i"), format!("{number} % {SLICES}i")),
            RightTexel::Columns => {
                let slices = self.tile.columns / TEXEL;
                (format!("{number} % {slices}i"), format!("{number} / {slices}i"))
            }
        }
    }

    /// Adds all products.
    fn multiply(&self, emitter: &mut Emitter<'_>, rows: &[Vec<Value>]) {
        let positions = if self.is_joined { Vec::new() } else { self.site.open_positions(emitter) };
        for load in 0..self.left.loads {
            emitter.line(&format!("var l{load}: vec4<f32>;"));
        }
        for load in 0..self.right.loads {
            emitter.line(&format!("var r{load}: vec4<f32>;"));
        }
        emitter.open("");
        self.fetch(emitter, rows, &positions, "0i");
        emitter.close("");
        let (step, count) = match self.is_joined {
            false => self.site.open_steps(emitter, DEPTH, ["0i", "1i"]),
            true => {
                let slices = self.site.product.position_count() * self.site.product.inner.div_ceil(TEXEL);
                let count = format!("{}i", slices.div_ceil(SLICES));
                (self.site.open_loop(emitter, &count, ["0i", "1i"]), count)
            }
        };
        emitter.line("workgroupBarrier();");
        self.stage(emitter);
        emitter.line("workgroupBarrier();");
        emitter.open(&format!("if ({step} + 1i < {count})"));
        self.fetch(emitter, rows, &positions, &format!("({step} + 1i)"));
        emitter.close("");
        self.add(emitter);
        emitter.close("");
        if !self.is_joined {
            self.site.close_positions(emitter);
        }
    }

    /// Loads the parts of a step to registers.
    fn fetch(&self, emitter: &mut Emitter<'_>, rows: &[Vec<Value>], positions: &[Value], step: &str) {
        for (load, row) in rows.iter().enumerate() {
            let inner = self.inner(emitter, positions, step, &self.left_place(load).1);
            let at = [&row[..], &inner.positions].concat();
            let inside = self.site.inside(emitter, &at);
            let values = self.site.load_left(emitter, &at, &inner.slice, inside.as_deref());
            assign(emitter, &format!("l{load}"), &values, inner.exists.as_deref());
        }
        for load in 0..self.right.loads {
            let (values, exists) = self.load_right(emitter, &rows[0], positions, step, load);
            assign(emitter, &format!("r{load}"), &values, exists.as_deref());
        }
    }

    /// The place of a slice of a step; a place within the operand for one that does not exist.
    fn inner(&self, emitter: &mut Emitter<'_>, positions: &[Value], step: &str, slice: &str) -> Inner {
        let product = self.site.product;
        let slices = product.inner.div_ceil(TEXEL);
        let number = emitter.variable(&format!("{step} * {SLICES}i + {slice}"));
        let all = if self.is_joined { product.position_count() * slices } else { slices };
        let exists = (!all.is_multiple_of(SLICES)).then(|| emitter.variable(&format!("{number} < {all}i")));
        let number = match exists {
            None => number,
            Some(_) => emitter.variable(&format!("min({number}, {}i)", all - 1)),
        };
        if !self.is_joined {
            return Inner { positions: positions.to_vec(), slice: Value::Text(number), exists };
        }
        let dims: Vec<usize> = (0..product.positions.len()).collect();
        let position = Value::Text(emitter.variable(&format!("{number} / {slices}i")));
        let positions = counted_coordinates(&position, &dims, &product.positions, dims.len());
        let positions = positions.into_iter().map(|value| emitter.named(value)).collect();
        Inner { positions, slice: Value::Text(emitter.variable(&format!("{number} % {slices}i"))), exists }
    }

    /// Four values of the right operand, and whether they exist, where some do not.
    fn load_right(
        &self,
        emitter: &mut Emitter<'_>,
        row: &[Value],
        positions: &[Value],
        step: &str,
        load: usize,
    ) -> (Vec<String>, Option<String>) {
        let (product, tile) = (self.site.product, self.tile);
        let (place, within) = self.right_place(load);
        let (at, lanes, exists) = match product.right_texel {
            RightTexel::Inner => {
                let inner = self.inner(emitter, positions, step, &within);
                let columns = product.column_count();
                let column = match columns.is_multiple_of(tile.columns) {
                    true => emitter.variable(&format!("column + {place}")),
                    false => emitter.variable(&format!("min(column + {place}, {}i)", columns - 1)),
                };
                let column = Value::Text(column);
                let lanes: Vec<_> =
                    (0..TEXEL).map(|lane| (column.clone(), Value::channel(&inner.slice, lane))).collect();
                ([row, &inner.positions].concat(), lanes, inner.exists)
            }
            RightTexel::Columns => {
                let slices = product.column_count().div_ceil(TEXEL);
                let slice = match product.column_count().is_multiple_of(tile.columns) {
                    true => emitter.variable(&format!("(column >> 2u) + {place}")),
                    false => emitter.variable(&format!("min((column >> 2u) + {place}, {}i)", slices - 1)),
                };
                let index = emitter.variable(&format!("{step} * {DEPTH}i + {within}"));
                let exists = (!product.inner.is_multiple_of(DEPTH))
                    .then(|| emitter.variable(&format!("{index} < {}i", product.inner)));
                let index = match exists {
                    None => index,
                    Some(_) => emitter.variable(&format!("min({index}, {}i)", product.inner - 1)),
                };
                let (slice, index) = (Value::Text(slice), Value::Text(index));
                let lanes = (0..TEXEL).map(|lane| (Value::channel(&slice, lane), index.clone())).collect();
                ([row, positions].concat(), lanes, exists)
            }
        };
        let places: Vec<Place> = lanes
            .into_iter()
            .map(|(column, index)| {
                let mut at = at.clone();
                at[product.column] = column;
                at.push(index);
                emitter.place(at)
            })
            .collect();
        (emitter.values(product.right, &places).iter().map(Value::text).collect(), exists)
    }

    /// Stores the loaded parts in workgroup memory.
    fn stage(&self, emitter: &mut Emitter<'_>) {
        for load in 0..self.left.loads {
            let (row, slice) = self.left_place(load);
            self.spread(emitter, &self.left, [&row, &slice], &format!("l{load}"));
        }
        for load in 0..self.right.loads {
            let (place, within) = self.right_place(load);
            match self.site.product.right_texel {
                RightTexel::Inner => self.spread(emitter, &self.right, [&place, &within], &format!("r{load}")),
                RightTexel::Columns => {
                    let Staged { name, stride, .. } = &self.right;
                    let index = emitter.variable(&format!("{within} * {stride}i + {place}"));
                    emitter.line(&format!("{name}[{index}] = r{load};"));
                }
            }
        }
    }

    /// Stores four neighbours in the inner dimension of a row or column.
    fn spread(&self, emitter: &mut Emitter<'_>, staged: &Staged, [place, slice]: [&str; 2], values: &str) {
        let Staged { name, stride, .. } = staged;
        let place = emitter.variable(place);
        let first = emitter.variable(&format!("({slice}) * {}i + ({place} >> 2u)", TEXEL * stride));
        let lane = emitter.variable(&format!("{place} & 3i"));
        for index in 0..TEXEL {
            emitter.line(&format!("{name}[{first} + {}i][{lane}] = {values}[{index}];", index * stride));
        }
    }

    /// Adds the products of the staged parts.
    fn add(&self, emitter: &mut Emitter<'_>) {
        let ([along, across], [rows, columns]) = (self.tile.lanes(), self.tile.each);
        emitter.open(&format!("for (var k: i32 = 0i; k < {DEPTH}i; k = k + {TEXEL}i)"));
        for index in 0..TEXEL {
            let mut load = |staged: &Staged, lane: &str, lanes: usize, count: usize| -> Vec<String> {
                let at = |part: usize| {
                    format!("{}[(k + {index}i) * {}i + {lane} + {}i]", staged.name, staged.stride, part * lanes)
                };
                (0..count / TEXEL).map(|part| emitter.variable(&at(part))).collect()
            };
            let left = load(&self.left, "lane_row", along, rows);
            let right = load(&self.right, "lane_column", across, columns);
            for row in 0..rows {
                for (slice, factors) in right.iter().enumerate() {
                    let value = format!("{}[{}]", left[row / TEXEL], row % TEXEL);
                    emitter.line(&format!("s{row}_{slice} = s{row}_{slice} + {value} * {factors};"));
                }
            }
        }
        emitter.close("");
    }

    /// Stores the epilogue of the tile.
    fn store(&self, emitter: &mut Emitter<'_>, batch: &Value) {
        let (product, tile) = (self.site.product, self.tile);
        let ([along, across], (rows, columns)) = (tile.lanes(), (product.row_count(), product.column_count()));
        for row in 0..tile.each[0] {
            let offset = row / TEXEL * along * TEXEL + row % TEXEL;
            let number = emitter.variable(&format!("first + lane_row * {TEXEL}i + {offset}i"));
            let is_partial = !rows.is_multiple_of(tile.rows);
            if is_partial {
                emitter.open(&format!("if ({number} < {rows}i)"));
            }
            let at = product.coordinates(&Value::Text(number), batch, &Value::Text("column".to_owned()));
            let at: Vec<Value> = at.into_iter().map(|value| emitter.named(value)).collect();
            for part in 0..tile.each[1] / TEXEL {
                let slice = emitter.variable(&format!("(column >> 2u) + lane_column + {}i", part * across));
                let is_guarded = !columns.is_multiple_of(tile.columns);
                if is_guarded {
                    emitter.open(&format!("if ({slice} < {}i)", columns.div_ceil(TEXEL)));
                }
                let sums: Vec<String> = (0..TEXEL).map(|lane| format!("s{row}_{part}[{lane}]")).collect();
                self.site.target().store(emitter, &at, &Value::Text(slice), &sums);
                if is_guarded {
                    emitter.close("");
                }
            }
            if is_partial {
                emitter.close("");
            }
        }
    }
}

/// Assigns four values to a vector; zeros where they do not exist.
fn assign(emitter: &mut Emitter<'_>, name: &str, values: &[String], exists: Option<&str>) {
    let vector = format!("vec4<f32>({})", values.join(", "));
    let vector = exists.map_or_else(|| vector.clone(), |exists| format!("select(vec4<f32>(), {vector}, {exists})"));
    emitter.line(&format!("{name} = {vector};"));
}
