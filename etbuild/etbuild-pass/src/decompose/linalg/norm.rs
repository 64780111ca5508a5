//! Norms of matrices, and condition numbers.

use etbuild_ir::{Argument, ValueId};

use super::solve::inverted;
use super::spectrum::singular;
use crate::Reason;
use crate::decompose::statistics::norm_of;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// The order of a norm of matrices.
#[derive(Clone, Copy)]
enum Order {
    /// The root of the sum of squares.
    Frobenius,
    /// The sum of singular values.
    Nuclear,
    /// 1, 2, infinity, or negative.
    Number(f64),
}

fn order(argument: &Argument) -> Result<Order, Reason> {
    match argument {
        Argument::Text(name) if name == "fro" => Ok(Order::Frobenius),
        Argument::Text(name) if name == "nuc" => Ok(Order::Nuclear),
        Argument::Float(number) => Ok(Order::Number(*number)),
        Argument::Int(number) => Ok(Order::Number(*number as f64)),
        _ => Err(Reason::Arguments),
    }
}

/// The norm over the dimensions of rows and columns.
fn matrix(editor: &mut Editor, of: ValueId, order: Order, [rows, columns]: [usize; 2], keep: bool) -> Made {
    let fold = |editor: &mut Editor, sum: usize, extreme: usize, name: &str| {
        let sizes = editor.apply("abs", of)?;
        let sums = editor.sum(sizes, &[sum], true)?;
        let extreme_value = editor.reduce(name, sums, &[extreme], true, vec![])?;
        without(editor, extreme_value, [rows, columns], keep)
    };
    // The norm of a matrix without elements is 0.
    let is_empty = [rows, columns].iter().any(|dim| editor.sizes(of).get(*dim) == Some(&0));
    match order {
        _ if is_empty => norm_of(editor, of, 2.0, &[rows, columns], keep),
        Order::Frobenius => norm_of(editor, of, 2.0, &[rows, columns], keep),
        Order::Number(1.0) => fold(editor, rows, columns, "amax.default"),
        Order::Number(-1.0) => fold(editor, rows, columns, "amin.default"),
        Order::Number(f64::INFINITY) => fold(editor, columns, rows, "amax.default"),
        Order::Number(f64::NEG_INFINITY) => fold(editor, columns, rows, "amin.default"),
        _ => {
            let rank = editor.spec(of).rank();
            let outer = (0..rank).filter(|dim| *dim != rows && *dim != columns);
            let dims: Vec<usize> = outer.chain([rows, columns]).collect();
            let moved = editor.permute(of, &dims)?;
            let [_, values, _] = singular(editor, moved)?;
            let folded = match order {
                Order::Nuclear => editor.sum(values, &[rank - 2], false)?,
                Order::Number(2.0) => editor.reduce("amax.default", values, &[rank - 2], false, vec![])?,
                Order::Number(-2.0) => editor.reduce("amin.default", values, &[rank - 2], false, vec![])?,
                _ => return Err(Reason::Unsupported("a matrix norm of this order")),
            };
            if !keep {
                return Ok(folded);
            }
            let mut sizes = editor.static_sizes(of)?;
            [rows, columns].into_iter().for_each(|dim| sizes[dim] = 1);
            editor.view(folded, &sizes)
        }
    }
}

fn without(editor: &mut Editor, of: ValueId, dims: [usize; 2], keep: bool) -> Made {
    if keep {
        return Ok(of);
    }
    let first = editor.squeezed(of, dims[0].max(dims[1]))?;
    editor.squeezed(first, dims[0].min(dims[1]))
}

/// `linalg_matrix_norm(self, ord, dim, keepdim, dtype)`.
pub fn matrix_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let dims = call.dims(2, editor.spec(input).rank())?;
    let [rows, columns] = dims[..] else { return Err(Reason::Arguments) };
    Ok(vec![matrix(editor, input, order(call.argument(1)?)?, [rows, columns], call.flag(3)?)?])
}

/// `linalg_norm(self, ord, dim, keepdim, dtype)`: of vectors for a single dimension, of matrices for two. Without an order
/// and dimensions, all elements are a vector.
pub fn norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    let (rank, keep) = (editor.spec(input).rank(), call.flag(3)?);
    let is_given = *call.argument(2)? != Argument::None;
    let dims = call.dims(2, rank)?;
    Ok(vec![match (call.argument(1)?, &dims[..]) {
        (Argument::None, _) => norm_of(editor, input, 2.0, &dims, keep)?,
        (number, [rows, columns]) if is_given || rank == 2 => {
            matrix(editor, input, order(number)?, [*rows, *columns], keep)?
        }
        (Argument::Text(_), _) => return Err(Reason::Arguments),
        _ => norm_of(editor, input, call.number(1)?, &dims, keep)?,
    }])
}

/// `linalg_cond(self, p)`: the norm times the norm of the inverse; by default, the ratio of singular values.
pub fn condition(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (rows, columns) = (rank.checked_sub(2).ok_or(Reason::Arguments)?, rank - 1);
    let order = if *call.argument(1)? == Argument::None { Order::Number(2.0) } else { order(call.argument(1)?)? };
    if let Order::Number(number @ (2.0 | -2.0)) = order {
        let [_, values, _] = singular(editor, input)?;
        let most = editor.reduce("amax.default", values, &[rows], false, vec![])?;
        let least = editor.reduce("amin.default", values, &[rows], false, vec![])?;
        let pair = if number > 0.0 { [most, least] } else { [least, most] };
        return Ok(vec![editor.pair("div", pair[0], pair[1])?]);
    }
    let (inverse, _) = inverted(editor, input)?;
    let first = matrix(editor, input, order, [rows, columns], false)?;
    let second = matrix(editor, inverse, order, [rows, columns], false)?;
    Ok(vec![editor.pair("mul", first, second)?])
}

/// `linalg_vander(x, N)`: the powers of each element from 0.
pub fn powers(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let mut input = editor.convert(call.value(0)?, output.scalar_type)?;
    if editor.spec(input).rank() == 0 {
        input = editor.flattened(input)?;
    }
    let sizes = editor.static_sizes(input)?;
    let [.., count] = output.sizes[..] else { return Err(Reason::Arguments) };
    let column = editor.unsqueezed(input, sizes.len())?;
    let wide = editor.expand(column, &[sizes.clone(), vec![count - 1]].concat())?;
    let spec = etbuild_ir::TensorSpec::contiguous(output.scalar_type, [sizes.clone(), vec![1]].concat());
    let ones = editor.full(Argument::Int(1), spec)?;
    let joined = editor.cat(vec![ones, wide], sizes.len(), output)?;
    Ok(vec![editor.map("cumprod.default", joined, vec![Argument::Int(sizes.len() as i64), Argument::None])?])
}

/// `vander(x, N, increasing)`: the powers of each element, by default the highest first.
pub fn powers_of_vector(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let arguments = call.arguments.iter().take(2).cloned().collect();
    let powers = editor.call("linalg_vander.default", arguments, output)?;
    if call.flag(2)? {
        return Ok(vec![powers]);
    }
    Ok(vec![editor.map("flip.default", powers, vec![Argument::Ints(vec![1])])?])
}
