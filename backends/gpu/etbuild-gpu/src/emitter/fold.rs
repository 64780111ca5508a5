//! Folds as loops.

use super::{Emitter, Place};
use crate::coordinate::Value;
use crate::expr::{ExprId, Fold, IndexOp};
use crate::sharing::{Sharing, is_by_row};
use crate::tensor::TEXEL;
use crate::types::{Literal, Type};

/// From this extent on, the innermost loop takes four elements at a time, which a texel may hold.
const UNROLLED: usize = 16;

/// A fold to be written.
pub struct Loop {
    /// How elements are combined.
    pub fold: Fold,
    /// The number of dimensions of the fold itself.
    pub rank: usize,
    /// The element at all coordinates.
    pub body: ExprId,
    /// The type of the elements.
    pub ty: Type,
}

/// The variables of a fold at a place.
struct Sum {
    place: Place,
    value: String,
    /// The position of the extreme.
    position: String,
}

impl Loop {
    /// Writes loops over the further coordinates; the results at each place.
    pub fn write(&self, emitter: &mut Emitter<'_>, extents: &[Value], places: &[Place]) -> Vec<Value> {
        let further: Vec<usize> = (self.rank..self.rank + extents.len()).collect();
        if is_by_row(emitter.scope().exprs, self.body, &further) {
            places.iter().for_each(|place| emitter.fold_ahead_of_loop(self.body, *place, self.rank, extents.len()));
        }
        let sums: Vec<Sum> = places.iter().map(|place| self.begin(emitter, *place)).collect();
        if let Some(sharing) = emitter.sharing {
            self.share(emitter, extents, &sums, sharing);
            return sums.into_iter().map(|sum| Value::Text(sum.value)).collect();
        }
        let step = emitter.name("n");
        if self.is_position() {
            emitter.line(&format!("var {step}: i32 = 0i;"));
        }
        let mut further = Vec::new();
        let (inner, outer) = extents.split_last().map_or((None, extents), |(inner, outer)| (Some(inner), outer));
        for extent in outer {
            further.push(open(emitter, extent));
        }
        match inner {
            None => self.combine(emitter, &sums, &further, &step),
            Some(Value::Known(extent)) if *extent >= UNROLLED && !self.is_position() => {
                let slice = open(emitter, &Value::Known(extent / TEXEL)).text();
                let lanes = (0..TEXEL).map(|lane| Value::Channel { slice: slice.clone(), lane });
                self.combine_all(emitter, &sums, &further, lanes);
                close(emitter, &Value::Known(extent / TEXEL));
                self.combine_all(emitter, &sums, &further, (extent / TEXEL * TEXEL..*extent).map(Value::Known));
            }
            Some(extent) => {
                further.push(open(emitter, extent));
                self.combine(emitter, &sums, &further, &step);
                close(emitter, extent);
            }
        }
        outer.iter().for_each(|extent| close(emitter, extent));
        let result = |sum: Sum| Value::Text(if self.is_position() { sum.position } else { sum.value });
        sums.into_iter().map(result).collect()
    }

    /// Writes a loop over the part of a lane, and combines the results of all lanes.
    fn share(&self, emitter: &mut Emitter<'_>, extents: &[Value], sums: &[Sum], Sharing { lanes, across }: Sharing) {
        let (outer, inner) = extents.split_at(extents.len().saturating_sub(1));
        let unit = match inner {
            [Value::Known(extent)] if *extent >= UNROLLED && extent.is_multiple_of(TEXEL) => TEXEL,
            _ => 1,
        };
        let over =
            |value: &Value| if let Value::Known(extent) = value { Value::Known(extent / unit) } else { value.clone() };
        let counted: Vec<Value> = outer.iter().cloned().chain(inner.iter().map(over)).collect();
        let count = counted.iter().fold(Value::Known(1), |count, extent| count.times(extent)).text();
        let index = emitter.name("i");
        emitter.open(&format!("for (var {index}: i32 = lane; {index} < {count}; {index} = {index} + {lanes}i)"));
        let mut further = Vec::new();
        let mut rest = Value::Text(index);
        for (position, extent) in counted.iter().enumerate().rev() {
            let is_outermost = position == 0;
            let own = if is_outermost { rest.clone() } else { Value::arithmetic(IndexOp::Rem, &rest, extent) };
            further.insert(0, emitter.named(own));
            rest = Value::arithmetic(IndexOp::Div, &rest, extent);
        }
        match further.last().map(Value::text).filter(|_| unit > 1) {
            Some(slice) => {
                further.pop();
                let lanes = (0..unit).map(|lane| Value::Channel { slice: slice.clone(), lane });
                self.combine_all(emitter, sums, &further, lanes);
            }
            None => self.combine(emitter, sums, &further, ""),
        }
        emitter.close("");
        let own = emitter.variable(&format!("i32(local.y) * {lanes}i + lane"));
        let parts: Vec<String> = sums
            .iter()
            .map(|_| emitter.workgroup_variable("parts", &format!("array<{}, {}>", self.ty.wgsl(), lanes * across)))
            .collect();
        let each = |line: &dyn Fn(&Sum, &str) -> String| -> Vec<String> {
            sums.iter().zip(&parts).map(|(sum, parts)| line(sum, parts)).collect()
        };
        let all = |emitter: &mut Emitter<'_>, lines: Vec<String>| lines.iter().for_each(|line| emitter.line(line));
        all(emitter, each(&|sum, parts| format!("{parts}[{own}] = {};", sum.value)));
        emitter.halve(lanes, 1, |half| {
            each(&|sum, parts| {
                let other = self.combined(sum, &format!("{parts}[{own} + {half}i]"), "");
                format!("{other} {parts}[{own}] = {};", sum.value)
            })
        });
        emitter.line("workgroupBarrier();");
        all(emitter, each(&|sum, parts| format!("{} = {parts}[i32(local.y) * {lanes}i];", sum.value)));
    }

    const fn is_position(&self) -> bool {
        matches!(self.fold, Fold::ArgMax | Fold::ArgMin)
    }

    fn begin(&self, emitter: &mut Emitter<'_>, place: Place) -> Sum {
        let (value, position) = (emitter.name("a"), emitter.name("p"));
        emitter.line(&format!("var {value}: {} = {};", self.ty.wgsl(), self.first()));
        if self.is_position() {
            emitter.line(&format!("var {position}: i32 = 0i;"));
        }
        Sum { place, value, position }
    }

    /// Combines the elements at several innermost coordinates.
    fn combine_all(
        &self,
        emitter: &mut Emitter<'_>,
        sums: &[Sum],
        further: &[Value],
        inner: impl Iterator<Item = Value>,
    ) {
        for coordinate in inner {
            let coordinates: Vec<Value> = further.iter().cloned().chain([coordinate]).collect();
            self.combine(emitter, sums, &coordinates, "");
        }
    }

    /// Combines the elements at the further coordinates.
    fn combine(&self, emitter: &mut Emitter<'_>, sums: &[Sum], further: &[Value], step: &str) {
        let places: Vec<Place> = sums
            .iter()
            .map(|sum| {
                let mut coordinates = emitter.coordinates(sum.place).to_vec();
                coordinates.resize(self.rank, Value::Known(0));
                coordinates.extend_from_slice(further);
                emitter.place(coordinates)
            })
            .collect();
        let elements = emitter.values(self.body, &places);
        for (sum, element) in sums.iter().zip(elements) {
            let line = self.combined(sum, &element.text(), step);
            emitter.line(&line);
        }
        if self.is_position() {
            emitter.line(&format!("{step} = {step} + 1i;"));
        }
    }

    /// The statement that combines an element.
    fn combined(&self, Sum { value, position, .. }: &Sum, element: &str, step: &str) -> String {
        let sign = match self.fold {
            Fold::Sum => return format!("{value} = {value} + {element};"),
            Fold::Product => return format!("{value} = {value} * {element};"),
            Fold::Any => return format!("{value} = {value} || {element};"),
            Fold::Max | Fold::ArgMax => ">",
            Fold::Min | Fold::ArgMin => "<",
        };
        let is_nan = match self.ty {
            Type::Float => format!(" || (is_nan({element}) && !is_nan({value}))"),
            _ => String::new(),
        };
        let is_better = match self.ty {
            Type::Bool => format!("i32({element}) {sign} i32({value})"),
            _ => format!("{element} {sign} {value}"),
        };
        match self.is_position() {
            true => format!("if ({is_better}{is_nan}) {{ {value} = {element}; {position} = {step}; }}"),
            false => format!("{value} = select({value}, {element}, {is_better}{is_nan});"),
        }
    }

    /// The value that the fold begins with.
    fn first(&self) -> String {
        let (is_most, ty) = (matches!(self.fold, Fold::Max | Fold::ArgMax), self.ty);
        match (self.fold, ty) {
            (Fold::Sum | Fold::Any, _) => Literal::new(0.0, ty),
            (Fold::Product, _) => Literal::new(1.0, ty),
            (_, Type::Int) => Literal::Int(if is_most { i32::MIN } else { i32::MAX }),
            (_, Type::Long) => Literal::Long(if is_most { i64::MIN } else { i64::MAX }),
            (_, Type::Bool) => Literal::Bool(!is_most),
            _ => Literal::new(if is_most { f64::NEG_INFINITY } else { f64::INFINITY }, ty),
        }
        .wgsl()
    }
}

/// Opens a loop; the index.
fn open(emitter: &mut Emitter<'_>, extent: &Value) -> Value {
    if *extent == Value::Known(1) {
        return Value::Known(0);
    }
    let (index, extent) = (emitter.name("i"), extent.text());
    emitter.open(&format!("for (var {index}: i32 = 0i; {index} < {extent}; {index} = {index} + 1i)"));
    Value::Text(index)
}

/// Closes a loop.
fn close(emitter: &mut Emitter<'_>, extent: &Value) {
    if *extent != Value::Known(1) {
        emitter.close("");
    }
}
