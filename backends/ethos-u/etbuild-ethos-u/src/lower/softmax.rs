//! Softmax along the last dimension, in integers of 16 bits and with tables of int8.
//!
//! `exp(x - max(x))` comes from two tables, its high and its low byte. A table gives the inverse of the sum of exponentials to within a few
//! percent, and steps of Newton double its digits. Every operator reads int8 or int16 and writes int8 or int16 with a factor, which Vela makes
//! one operation of the NPU: RESCALE of int32 would be another, with a factor that it reads from flash.

use etbuild_backend::int8::pattern::{int8_operand, no};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Node};

use super::build::{Named, Order, Rescaling};
use super::{Done, Lowering, Target};
use crate::tosa::operation::{Add, Maximum, Mul, ReduceSum, Scale, Sub, Table};
use crate::tosa::{Kind, TensorId};

/// With more columns, the rounding of exponentials and of their sum would cost a step of the result.
const MOST_COLUMNS: usize = 96;

/// The number 1 in int16: the greatest that two signed bytes make.
const ONE: f64 = 32_639.0;

/// The greatest entry of a table of int8, counted from the least.
const LAST: f64 = 255.0;

/// The relative error of the inverse: a quarter of a step of the greatest result.
const TOLERANCE: f64 = 1.0 / 1024.0;

/// An integer operand: the tensor, its zero point, and a factor.
type Side = (TensorId, i32, f64);

/// The type, the zero point and the factor of a result.
type Form = (Kind, i32, f64);

/// Applies an operation to two int32 tensors.
type Apply = fn(&mut Lowering<'_>, [TensorId; 2], Named<'_>) -> TensorId;

/// Lowers softmax.
pub fn lower(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let operand = int8_operand(lowering.links, node)?;
    let sizes = lowering.sizes(target.id);
    let rank = sizes.len() as i64;
    let is_last = matches!(node.arguments.get(1), Some(Argument::Int(dim)) if *dim == -1 || *dim == rank - 1);
    let columns = sizes.last().copied().unwrap_or(0);
    if !is_last {
        return Err(no(RefusalKind::Argument, "softmax runs along another dimension than the last"));
    }
    if !(1..=MOST_COLUMNS).contains(&columns) {
        return Err(no(RefusalKind::Shape, "softmax has more than 96 columns"));
    }
    let name = lowering.name(target.id);
    let input = lowering.row_major(operand)?;
    let rows = sizes.iter().product::<usize>() / columns;
    let input = lowering.reshaped(input, &[rows, columns], &format!("{name}.rows"));
    let mut softmax = Softmax { lowering, name, rows, columns };
    let exponentials = softmax.exponentials(input, operand.qparams.scale)?;
    let sums = softmax.sums(exponentials)?;
    let inverses = softmax.inverses(sums)?;
    let scale = 1.0 / (ONE * ONE) / target.qparams.scale;
    let form = (Kind::Int8, target.qparams.zero, scale);
    let result = softmax.pair(multiplied, [(exponentials, 0, 1.0), (inverses, 0, 1.0)], form, "result")?;
    let result = lowering.limited(result, target);
    let result = lowering.reshaped(result, &sizes, &format!("{name}.view"));
    lowering.store(target, result, Order::RowMajor);
    Ok(())
}

/// The lowering of a softmax, whose tensors are `[rows, columns]` or `[rows, 1]`.
struct Softmax<'a, 'g> {
    lowering: &'a mut Lowering<'g>,
    name: &'a str,
    rows: usize,
    columns: usize,
}

impl Softmax<'_, '_> {
    /// The exponentials of the distances from the greatest number, where [`ONE`] is the exponential of 0.
    fn exponentials(&mut self, input: TensorId, scale: f64) -> Result<TensorId, Refusal> {
        let most = self.greatest(input)?;
        let number = |index: usize| ((index as f64 - LAST) * scale).exp() * ONE;
        // The low byte is signed, so that the high byte is rounded to nearest.
        let low = |index: usize| number(index).round() as i16 as u8;
        let high = |index: usize| ((number(index).round() as i32 + 128) >> 8) as u8;
        let high = self.of_distances([input, most], (0..256).map(high).collect(), "high")?;
        let low = self.of_distances([input, most], (0..256).map(low).collect(), "low")?;
        // The NPU shifts the operand of the greater scale by 19 bits.
        let [greater, less] = [f64::from(1 << 19), f64::from(1 << 11)];
        self.pair(sum, [(high, 0, greater), (low, 0, less)], (Kind::Int16, 0, 1.0 / less), "exponentials")
    }

    /// A table of the distances from -255 to 0: one operation for Vela, which would make two of a difference that both tables read.
    fn of_distances(&mut self, sides: [TensorId; 2], table: Vec<u8>, name: &str) -> Result<TensorId, Refusal> {
        let form = (Kind::Int8, 127, 1.0);
        let distance = self.pair(difference, sides.map(|side| (side, 0, 1.0)), form, &format!("{name}_distance"))?;
        Ok(self.table(distance, table, name))
    }

    /// The greatest number of each row, in halves: REDUCE_MAX takes a multiple of the cycles.
    fn greatest(&mut self, input: TensorId) -> Result<TensorId, Refusal> {
        let (mut most, mut columns, mut rest) = (input, self.columns, Vec::new());
        while columns > 1 {
            let half = columns / 2;
            if columns % 2 == 1 {
                rest.push(self.part(most, columns - 1, 1));
            }
            let halves = [self.part(most, 0, half), self.part(most, half, half)];
            (most, columns) = (self.greater(halves)?, half);
        }
        rest.into_iter().try_fold(most, |most, column| self.greater([most, column]))
    }

    fn greater(&mut self, sides: [TensorId; 2]) -> Result<TensorId, Refusal> {
        self.pair(maximum, sides.map(|side| (side, 0, 1.0)), (Kind::Int8, 0, 1.0), "most")
    }

    /// Columns of a tensor.
    fn part(&mut self, tensor: TensorId, start: usize, count: usize) -> TensorId {
        self.lowering.sliced(tensor, [&[0, start], &[self.rows, count]], &format!("{}.part", self.name))
    }

    /// The sums of exponentials, where [`ONE`] is the number of columns.
    fn sums(&mut self, exponentials: TensorId) -> Result<TensorId, Refusal> {
        let wide = self.rescaled((exponentials, 0, 1.0), Kind::Int32, 0, "wide")?;
        let named = (&*format!("{}.sum", self.name), Kind::Int32, &[self.rows, 1][..]);
        let sums = self.lowering.emit(ReduceSum { axis: 1 }, &[wide], named);
        self.rescaled((sums, 0, 1.0 / self.columns as f64), Kind::Int16, 0, "sums")
    }

    /// The inverses of sums, where [`ONE`] is the inverse of 1.
    fn inverses(&mut self, sums: TensorId) -> Result<TensorId, Refusal> {
        let columns = self.columns as f64;
        let entry = |index: usize| {
            let inverse = (LAST / (columns * index as f64 / LAST).max(1.0)).round().max(1.0);
            (inverse as i32 - 128) as u8
        };
        // A sum of a tensor with itself and its table are one operation, as opposed to RESCALE and a table.
        let form = (Kind::Int8, -128, LAST / (2.0 * ONE));
        let index = self.pair(sum, [(sums, 0, 1.0); 2], form, "index")?;
        let first = self.table(index, (0..256).map(entry).collect(), "inverse");
        let form = (Kind::Int16, 0, ONE / (2.0 * LAST));
        let mut inverses = self.pair(sum, [(first, -128, 1.0); 2], form, "inverse_first")?;
        let mut error = (columns / 2.0 + 0.5) / LAST;
        while error > TOLERANCE {
            inverses = self.newton(sums, inverses)?;
            error *= error;
        }
        Ok(inverses)
    }

    /// A step of Newton: `2 r - s r r` for the inverse `r` of `s`.
    fn newton(&mut self, sums: TensorId, inverses: TensorId) -> Result<TensorId, Refusal> {
        let form = (Kind::Int16, 0, 1.0 / ONE);
        let square = self.pair(multiplied, [(inverses, 0, 1.0); 2], form, "square")?;
        // The product can exceed 1: it has half the digits, as the difference then.
        let form = (Kind::Int16, 0, self.columns as f64 / ONE / 2.0);
        let product = self.pair(multiplied, [(sums, 0, 1.0), (square, 0, 1.0)], form, "square_product")?;
        self.pair(difference, [(inverses, 0, 1.0), (product, 0, 1.0)], (Kind::Int16, 0, 2.0), "inverses")
    }

    /// An operation on two tensors as int32, and its result in another form.
    fn pair(&mut self, apply: Apply, sides: [Side; 2], form: Form, name: &str) -> Result<TensorId, Refusal> {
        let mut wide = [sides[0].0; 2];
        for (wide, side) in wide.iter_mut().zip(sides) {
            *wide = self.rescaled(side, Kind::Int32, 0, &format!("{name}.wide"))?;
        }
        let columns = wide.map(|side| self.lowering.sizes_of(side)[1]);
        let sizes = [self.rows, columns[0].max(columns[1])];
        let result = apply(self.lowering, wide, (&format!("{}.{name}.exact", self.name), Kind::Int32, &sizes));
        let (kind, zero, factor) = form;
        self.rescaled((result, 0, factor), kind, zero, name)
    }

    fn rescaled(
        &mut self,
        (tensor, zero, factor): Side,
        to: Kind,
        to_zero: i32,
        name: &str,
    ) -> Result<TensorId, Refusal> {
        let scale = Scale::of(factor);
        let scale = scale.ok_or_else(|| no(RefusalKind::Quantization, "the scale of the result is too small"))?;
        let rescaling = Rescaling { zero, scales: vec![scale], to, to_zero };
        Ok(self.lowering.rescaled(tensor, &rescaling, &format!("{}.{name}", self.name)))
    }

    fn table(&mut self, index: TensorId, entries: Vec<u8>, name: &str) -> TensorId {
        let name = format!("{}.{name}", self.name);
        let table = self.lowering.bytes(&format!("{name}.table"), &[entries.len()], entries);
        let sizes = self.lowering.sizes_of(index);
        self.lowering.emit(Table, &[index, table], (&name, Kind::Int8, &sizes))
    }
}

fn sum(lowering: &mut Lowering<'_>, sides: [TensorId; 2], named: Named<'_>) -> TensorId {
    lowering.emit(Add, &sides, named)
}

fn difference(lowering: &mut Lowering<'_>, sides: [TensorId; 2], named: Named<'_>) -> TensorId {
    lowering.emit(Sub, &sides, named)
}

fn maximum(lowering: &mut Lowering<'_>, sides: [TensorId; 2], named: Named<'_>) -> TensorId {
    lowering.emit(Maximum, &sides, named)
}

fn multiplied(lowering: &mut Lowering<'_>, [left, right]: [TensorId; 2], named: Named<'_>) -> TensorId {
    let shift = lowering.number(&format!("{}.no_shift", named.0), Kind::Int8, 0);
    lowering.emit(Mul, &[left, right, shift], named)
}
