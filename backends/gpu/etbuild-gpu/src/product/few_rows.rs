//! Products of few rows, such as decode steps: an invocation has four columns and all rows.
//!
//! On a GPU, whose compute units have more invocations than there are columns, lanes of a workgroup share the inner dimension.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place};
use crate::kernel::Entry;
use crate::profile::BUSY;
use crate::tensor::TEXEL;

use super::{Product, RightTexel, Site, declare, sum};

/// The invocations of a workgroup whose lanes do not share.
const WORKGROUP: usize = 64;

/// The most lanes of a workgroup, which otherwise has half as many invocations.
const SHARING: usize = 256;

/// Writes the kernel for a GPU with so many compute units; its entry point.
pub fn write(site: &Site<'_>, emitter: &mut Emitter<'_>, units: usize) -> Entry {
    let lanes = lanes(site.product, units);
    let across = if lanes > 1 { (SHARING / 2).max(lanes) / lanes } else { WORKGROUP };
    Split { site, lanes, across }.write(emitter);
    let head = format!(
        "@workgroup_size({lanes}, {across}) fn main(@builtin(local_invocation_id) local: vec3<u32>, \
         @builtin(workgroup_id) group: vec3<u32>) "
    );
    let slices = site.product.column_count().div_ceil(TEXEL);
    let workgroups = [slices.div_ceil(across) as u32, site.product.batch_count() as u32, 1];
    Entry { head, begin: String::new(), workgroups }
}

/// The lanes that share the inner dimension of a column: a power of two.
fn lanes(product: &Product, units: usize) -> usize {
    if units == 0 {
        return 1;
    }
    let wanted = (units * BUSY).div_ceil(product.column_count().div_ceil(TEXEL) * product.batch_count());
    let slices = product.inner.div_ceil(TEXEL);
    wanted.next_power_of_two().max(LEAST_LANES).min(slices.next_power_of_two()).min(SHARING)
}

/// Neighbouring lanes load neighbouring texels: so many are a whole transaction of the memory.
const LEAST_LANES: usize = 32;

/// The kernel under construction.
struct Split<'s, 'p> {
    site: &'s Site<'p>,
    /// The lanes that share the inner dimension.
    lanes: usize,
    /// The slices of columns of a workgroup.
    across: usize,
}

impl Split<'_, '_> {
    fn write(&self, emitter: &mut Emitter<'_>) {
        let (site, product) = (self.site, self.site.product);
        let (rows, slices) = (product.row_count(), product.column_count().div_ceil(TEXEL));
        emitter.line("let lane = i32(local.x);");
        emitter.line(&format!("let number = i32(group.x) * {}i + i32(local.y);", self.across));
        let mut exists = format!("number < {slices}i");
        if product.limits.columns.is_some() {
            exists = format!("{exists} && number * 4i < {}", site.column_limit(emitter));
        }
        if self.lanes == 1 {
            emitter.line(&format!("if (!({exists})) {{ return; }}"));
        }
        // All invocations of a workgroup with lanes meet at the barriers.
        emitter.line(&format!("let slice = min(number, {}i);", slices - 1));
        let has_batch = product.batch_count() > 1;
        let batch = if has_batch { Value::Text(emitter.variable("i32(group.y)")) } else { Value::Known(0) };
        let slice = Value::Text("slice".to_owned());
        declare(emitter, rows, TEXEL);
        let at: Vec<Vec<Value>> =
            (0..rows).map(|row| product.coordinates(&Value::Known(row), &batch, &Value::channel(&slice, 0))).collect();
        self.add(emitter, &at, &slice);
        if self.lanes > 1 {
            self.share(emitter, rows);
            emitter.open(&format!("if (lane == 0i && {exists})"));
        }
        for (row, at) in at.iter().enumerate() {
            let sums: Vec<String> = (0..TEXEL).map(|column| sum(row, column)).collect();
            site.target().store(emitter, at, &slice, &sums);
        }
        if self.lanes > 1 {
            emitter.close("");
        }
    }

    /// Adds the products of the lane.
    fn add(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>], slice: &Value) {
        let site = self.site;
        let positions = site.open_positions(emitter);
        let left: Vec<Vec<Value>> = at.iter().map(|at| [&at[..], &positions].concat()).collect();
        let inside: Vec<Option<String>> = left.iter().map(|at| site.inside(emitter, at)).collect();
        let inner = Value::Text(self.open_slices(emitter));
        let right = square(site, emitter, &left[0], slice, &inner);
        for (row, at) in left.iter().enumerate() {
            let values = site.load_left(emitter, at, &inner, inside[row].as_deref());
            for (value, factors) in values.iter().zip(&right) {
                for (column, factor) in factors.iter().enumerate() {
                    let sum = sum(row, column);
                    emitter.line(&format!("{sum} = {sum} + {value} * {factor};"));
                }
            }
        }
        emitter.close("");
        site.close_positions(emitter);
    }

    /// Opens the loop over the slices of the lane; the slice. Drivers unroll a loop whose number of steps is known, and load ahead.
    fn open_slices(&self, emitter: &mut Emitter<'_>) -> String {
        let (site, lanes) = (self.site, self.lanes);
        let slices = site.product.inner.div_ceil(TEXEL);
        if lanes == 1 || site.product.limits.inner.is_some() || !slices.is_multiple_of(lanes) {
            let first = if lanes > 1 { "lane" } else { "0i" };
            return site.open_steps(emitter, TEXEL, [first, &format!("{lanes}i")]).0;
        }
        let step = site.open_loop(emitter, &format!("{}i", slices / lanes), ["0i", "1i"]);
        emitter.variable(&format!("{step} * {lanes}i + lane"))
    }

    /// Adds the sums of the lanes: those of lane 0 are whole then.
    fn share(&self, emitter: &mut Emitter<'_>, rows: usize) {
        let invocations = self.lanes * self.across;
        let parts = emitter.workgroup_variable("parts", &format!("array<vec4<f32>, {}>", rows * invocations));
        let own = emitter.variable(&format!("i32(local.y) * {}i + lane", self.lanes));
        for row in 0..rows {
            let sums: Vec<String> = (0..TEXEL).map(|column| sum(row, column)).collect();
            emitter.line(&format!("{parts}[{own} + {}i] = vec4<f32>({});", row * invocations, sums.join(", ")));
        }
        emitter.halve(self.lanes, 1, |half| {
            let place = |row: usize| format!("{own} + {}i", row * invocations);
            let places = (0..rows).map(place);
            places.map(|place| format!("{parts}[{place}] = {parts}[{place}] + {parts}[{place} + {half}i];")).collect()
        });
        for row in 0..rows {
            for column in 0..TEXEL {
                let place = format!("{own} + {}i", row * invocations);
                emitter.line(&format!("{} = {parts}[{place}][{column}];", sum(row, column)));
            }
        }
    }
}

/// Four indices of the inner dimension by four columns of the right operand, at the coordinates of a row.
fn square(site: &Site<'_>, emitter: &mut Emitter<'_>, at: &[Value], slice: &Value, inner: &Value) -> Vec<Vec<String>> {
    let product = site.product;
    // Lanes of texels beyond the matrix are 0; indices of elements stay inside.
    let mut four = |first: &Value, size: usize, is_texel: bool| -> Vec<Value> {
        let mut clamped = |lane: usize| match Value::channel(first, lane) {
            index if is_texel || size.is_multiple_of(TEXEL) => index,
            index => Value::Text(emitter.variable(&format!("min({}, {}i)", index.text(), size - 1))),
        };
        (0..TEXEL).map(&mut clamped).collect()
    };
    let columns = four(slice, product.column_count(), product.right_texel == RightTexel::Columns);
    let indices = four(inner, product.inner, product.right_texel == RightTexel::Inner);
    let pairs = indices.iter().flat_map(|index| columns.iter().map(move |column| (index, column)));
    let places: Vec<Place> = pairs
        .map(|(index, column)| {
            let mut at = at.to_vec();
            at[product.column] = column.clone();
            at.push(index.clone());
            emitter.place(at)
        })
        .collect();
    let values: Vec<String> = emitter.values(product.right, &places).iter().map(Value::text).collect();
    values.chunks(TEXEL).map(<[String]>::to_vec).collect()
}
