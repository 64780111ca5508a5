//! Products of few rows, such as decode steps: an invocation has four columns and all rows.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place};
use crate::kernel::Entry;
use crate::tensor::TEXEL;

use super::{RightTexel, Site, declare, sum};

/// The invocations of a workgroup.
const WORKGROUP: usize = 64;

/// Writes the kernel; its entry point.
pub fn write(site: &Site<'_>, emitter: &mut Emitter<'_>) -> Entry {
    let product = site.product;
    let (rows, slices) = (product.row_count(), product.column_count().div_ceil(TEXEL));
    emitter.line("let slice = i32(id.x);");
    emitter.line(&format!("if (slice >= {slices}i) {{ return; }}"));
    if product.limits.columns.is_some() {
        let limit = site.column_limit(emitter);
        emitter.line(&format!("if (slice * 4i >= {limit}) {{ return; }}"));
    }
    let batches = product.batch_count();
    let batch = if batches > 1 { Value::Text(emitter.variable("i32(id.y)")) } else { Value::Known(0) };
    let slice = Value::Text("slice".to_owned());
    declare(emitter, rows, TEXEL);
    let positions = site.open_positions(emitter);
    let at: Vec<Vec<Value>> =
        (0..rows).map(|row| product.coordinates(&Value::Known(row), &batch, &Value::channel(&slice, 0))).collect();
    let left: Vec<Vec<Value>> = at.iter().map(|at| [&at[..], &positions].concat()).collect();
    let inside: Vec<Option<String>> = left.iter().map(|at| site.inside(emitter, at)).collect();
    let inner = Value::Text(site.open_steps(emitter, TEXEL));
    let right = square(site, emitter, &left[0], &slice, &inner);
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
    for (row, at) in at.iter().enumerate() {
        let sums: Vec<String> = (0..TEXEL).map(|column| sum(row, column)).collect();
        site.target().store(emitter, at, &slice, &sums);
    }
    let head = format!("@workgroup_size({WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) ");
    Entry { head, begin: String::new(), workgroups: [slices.div_ceil(WORKGROUP) as u32, batches as u32, 1] }
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
