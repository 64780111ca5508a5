//! `aten.einsum`: products, summed over the labels that the result lacks, two operands at a time.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// A tensor with a label for each dimension.
struct Operand {
    value: ValueId,
    labels: Vec<char>,
}

/// The labels of the dimensions of an ellipsis: private characters, counted from the last dimension.
const ELLIPSIS: u32 = 0xE000;

/// `einsum(equation, tensors)`.
pub fn einsum(editor: &mut Editor, call: &Call) -> Rewritten {
    let Argument::Text(equation) = call.argument(0)? else { return Err(Reason::Arguments) };
    let equation: String = equation.chars().filter(|character| !character.is_whitespace()).collect();
    let values = call.values(1)?;
    let ranks: Vec<usize> = values.iter().map(|value| editor.spec(*value).rank()).collect();
    let (inputs, result) = split(&equation, &ranks)?;
    let mut operands = Vec::new();
    for (value, labels) in values.into_iter().zip(inputs) {
        operands.push(of_diagonals(editor, Operand { value, labels })?);
    }
    let mut rest = operands.into_iter();
    let mut left = rest.next().ok_or(Reason::Arguments)?;
    while let Some(right) = rest.next() {
        let later = rest.as_slice();
        let wanted =
            |label: &char| result.contains(label) || later.iter().any(|operand| operand.labels.contains(label));
        left = product(editor, left, right, &wanted)?;
    }
    let left = without(editor, left, &|label| result.contains(label))?;
    let dims = positions(&left.labels, &result)?;
    Ok(vec![editor.permute(left.value, &dims)?])
}

/// An operand whose labels differ: the diagonal of dimensions with equal labels.
fn of_diagonals(editor: &mut Editor, mut operand: Operand) -> Result<Operand, Reason> {
    let repeated = |labels: &[char]| {
        let pairs = (0..labels.len()).flat_map(|first| (first + 1..labels.len()).map(move |second| (first, second)));
        pairs.into_iter().find(|(first, second)| labels[*first] == labels[*second])
    };
    while let Some((first, second)) = repeated(&operand.labels) {
        let label = operand.labels.remove(second);
        operand.labels.remove(first);
        operand.labels.push(label);
        let mut dims = editor.dims(operand.value);
        let size = dims.remove(second);
        if size.fixed()? != dims.remove(first).fixed()? {
            return Err(Reason::Arguments);
        }
        dims.push(size);
        let output = Dim::spec(editor.spec(operand.value).scalar_type, &dims);
        let arguments = [0, first as i64, second as i64].map(Argument::Int);
        let arguments = std::iter::once(Argument::Value(operand.value)).chain(arguments).collect();
        operand.value = editor.call("diagonal.default", arguments, output)?;
    }
    Ok(operand)
}

/// The labels of the operands and of the result. The default result has the labels of ellipses, then the labels that occur
/// once, in alphabetical order.
fn split(equation: &str, ranks: &[usize]) -> Result<(Vec<Vec<char>>, Vec<char>), Reason> {
    let (left, right) = equation.split_once("->").map_or((equation, None), |(left, right)| (left, Some(right)));
    let parts: Vec<&str> = left.split(',').collect();
    if parts.len() != ranks.len() {
        return Err(Reason::Arguments);
    }
    let hidden = |part: &str, rank: usize| match part.split_once("...") {
        Some((before, behind)) => rank.checked_sub(before.len() + behind.len()).ok_or(Reason::Arguments),
        None if part.len() == rank => Ok(0),
        None => Err(Reason::Arguments),
    };
    let counts = parts.iter().zip(ranks).map(|(part, rank)| hidden(part, *rank)).collect::<Result<Vec<_>, _>>()?;
    let most = counts.iter().copied().max().unwrap_or(0);
    let inputs: Vec<Vec<char>> = parts.iter().zip(&counts).map(|(part, count)| spelled_out(part, *count)).collect();
    let result = right.map_or_else(|| [hidden_labels(most), once(&inputs)].concat(), |part| spelled_out(part, most));
    Ok((inputs, result))
}

/// The labels of a part of an equation, with `count` labels for an ellipsis.
fn spelled_out(part: &str, count: usize) -> Vec<char> {
    match part.split_once("...") {
        Some((before, behind)) => before.chars().chain(hidden_labels(count)).chain(behind.chars()).collect(),
        None => part.chars().collect(),
    }
}

fn hidden_labels(count: usize) -> Vec<char> {
    (0..count as u32).rev().filter_map(|from_last| char::from_u32(ELLIPSIS + from_last)).collect()
}

fn once(inputs: &[Vec<char>]) -> Vec<char> {
    let mut labels: Vec<char> = inputs.concat();
    labels.sort_unstable();
    let count = |label: &char| labels.iter().filter(|other| *other == label).count();
    let is_named = |label: &char| u32::from(*label) < ELLIPSIS;
    labels.iter().copied().filter(|label| is_named(label) && count(label) == 1).collect()
}

fn positions(labels: &[char], wanted: &[char]) -> Result<Vec<usize>, Reason> {
    let position = |label: &char| labels.iter().position(|known| known == label);
    wanted.iter().map(position).collect::<Option<_>>().ok_or(Reason::Arguments)
}

/// The operand summed over the labels that are not wanted.
fn without(editor: &mut Editor, operand: Operand, wanted: &dyn Fn(&char) -> bool) -> Result<Operand, Reason> {
    let labels = operand.labels.iter().enumerate();
    let dims: Vec<usize> = labels.filter(|(_, label)| !wanted(label)).map(|(dim, _)| dim).collect();
    if dims.is_empty() {
        return Ok(operand);
    }
    let value = editor.sum(operand.value, &dims, false)?;
    Ok(Operand { value, labels: operand.labels.into_iter().filter(|label| wanted(label)).collect() })
}

/// The product of two operands as a batched matrix product.
fn product(
    editor: &mut Editor,
    left: Operand,
    right: Operand,
    wanted: &dyn Fn(&char) -> bool,
) -> Result<Operand, Reason> {
    let left = narrowed(editor, left, &right)?;
    let right = narrowed(editor, right, &left)?;
    let left = without(editor, left, &|label| wanted(label) || right.labels.contains(label))?;
    let right = without(editor, right, &|label| wanted(label) || left.labels.contains(label))?;
    let both = |label: &&char| right.labels.contains(label);
    let batch: Vec<char> = left.labels.iter().filter(both).filter(|label| wanted(label)).copied().collect();
    let inner: Vec<char> = left.labels.iter().filter(both).filter(|label| !wanted(label)).copied().collect();
    let rows: Vec<char> = left.labels.iter().filter(|label| !right.labels.contains(label)).copied().collect();
    let columns: Vec<char> = right.labels.iter().filter(|label| !left.labels.contains(label)).copied().collect();
    let (left_sizes, right_sizes) = (editor.dims(left.value), editor.dims(right.value));
    let of_left = |labels: &[char]| sizes(&left.labels, &left_sizes, labels);
    let of_right = |labels: &[char]| sizes(&right.labels, &right_sizes, labels);
    let shared = [&batch[..], &inner].concat();
    if of_left(&shared)?.iter().zip(of_right(&shared)?).any(|(left, right)| left.most != right.most) {
        return Err(Reason::Arguments);
    }
    let (count, height) = (Dim::product(&of_left(&batch)?), Dim::product(&of_left(&rows)?));
    let (depth, width) = (Dim::product(&of_left(&inner)?), Dim::product(&of_right(&columns)?));
    let first = editor.permute(left.value, &positions(&left.labels, &[&batch[..], &rows, &inner].concat())?)?;
    let second = editor.permute(right.value, &positions(&right.labels, &[&batch[..], &inner, &columns].concat())?)?;
    let first = editor.view_as(first, &[count, height, depth])?;
    let second = editor.view_as(second, &[count, depth, width])?;
    let output = Dim::spec(editor.spec(first).scalar_type, &[count, height, width]);
    let made = editor.call("bmm.default", [first, second].map(Argument::Value).to_vec(), output)?;
    let apart = [of_left(&batch)?, of_left(&rows)?, of_right(&columns)?].concat();
    Ok(Operand { value: editor.view_as(made, &apart)?, labels: [batch, rows, columns].concat() })
}

/// An operand without the dimensions of size 1 that broadcast to a larger dimension of the other operand.
fn narrowed(editor: &mut Editor, mut operand: Operand, other: &Operand) -> Result<Operand, Reason> {
    for dim in (0..operand.labels.len()).rev() {
        let own = editor.dims(operand.value).get(dim).map(|size| size.most);
        let place = other.labels.iter().position(|label| *label == operand.labels[dim]);
        let larger = place.and_then(|place| editor.dims(other.value).get(place).copied());
        if own == Some(1) && larger.is_some_and(|size| size.most != 1) {
            operand.value = editor.squeezed(operand.value, dim)?;
            operand.labels.remove(dim);
        }
    }
    Ok(operand)
}

fn sizes(labels: &[char], all: &[Dim], wanted: &[char]) -> Result<Vec<Dim>, Reason> {
    let positions = positions(labels, wanted)?;
    positions.into_iter().map(|dim| all.get(dim).copied().ok_or(Reason::Arguments)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_result_has_the_labels_that_occur_once() {
        let (inputs, result) = split("ij,jk", &[2, 2]).unwrap();
        assert_eq!((inputs.len(), result), (2, vec!['i', 'k']));
    }

    #[test]
    fn an_ellipsis_has_a_label_for_each_dimension_counted_from_the_last() {
        let (inputs, result) = split("...ij,...j->...i", &[4, 2]).unwrap();
        assert_eq!((inputs[0].len(), inputs[1].len(), result.len()), (4, 2, 3));
        assert_eq!((inputs[0][1], inputs[0][0]), (inputs[1][0], result[0]));
    }

    #[test]
    fn labels_that_do_not_fit_the_operands_are_refused() {
        assert!(split("ij,jk", &[2, 3]).is_err());
        assert!(split("ij", &[2, 2]).is_err());
    }
}
