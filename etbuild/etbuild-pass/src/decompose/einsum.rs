//! `aten.einsum`: products, summed over the labels that the result lacks, two operands at a time.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// A tensor with a label for each dimension.
struct Operand {
    value: ValueId,
    labels: Vec<char>,
}

/// `einsum(equation, tensors)` without ellipsis and without a repeated label in an operand.
pub fn einsum(editor: &mut Editor, call: &Call) -> Rewritten {
    let Argument::Text(equation) = call.argument(0)? else { return Err(Reason::Arguments) };
    let equation: String = equation.chars().filter(|character| !character.is_whitespace()).collect();
    let (inputs, result) = split(&equation)?;
    let values = call.values(1)?;
    if inputs.len() != values.len() {
        return Err(Reason::Arguments);
    }
    let mut operands = values.into_iter().zip(inputs).map(|(value, labels)| Operand { value, labels });
    let mut left = operands.next().ok_or(Reason::Arguments)?;
    let mut rest: Vec<Operand> = operands.collect();
    while !rest.is_empty() {
        let right = rest.remove(0);
        let wanted = |label: &char| result.contains(label) || rest.iter().any(|operand| operand.labels.contains(label));
        left = product(editor, left, right, &wanted)?;
    }
    let left = without(editor, left, &|label| result.contains(label))?;
    let dims = positions(&left.labels, &result)?;
    Ok(vec![editor.permute(left.value, &dims)?])
}

/// The labels of the operands and of the result. The default result has the labels that occur once, in alphabetical
/// order.
fn split(equation: &str) -> Result<(Vec<Vec<char>>, Vec<char>), Reason> {
    let (left, right) = equation.split_once("->").map_or((equation, None), |(left, right)| (left, Some(right)));
    let inputs: Vec<Vec<char>> = left.split(',').map(|labels| labels.chars().collect()).collect();
    let twice = |labels: &Vec<char>| labels.iter().enumerate().any(|(index, label)| labels[..index].contains(label));
    if equation.contains('.') || inputs.iter().any(twice) {
        return Err(Reason::Unsupported("an ellipsis or a repeated label in an operand"));
    }
    let result = right.map_or_else(|| once(&inputs), |labels| labels.chars().collect());
    Ok((inputs, result))
}

fn once(inputs: &[Vec<char>]) -> Vec<char> {
    let mut labels: Vec<char> = inputs.concat();
    labels.sort_unstable();
    let count = |label: &char| labels.iter().filter(|other| *other == label).count();
    labels.iter().copied().filter(|label| count(label) == 1).collect()
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
        return Err(Reason::Unsupported("broadcasting of a dimension of size 1"));
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

fn sizes(labels: &[char], all: &[Dim], wanted: &[char]) -> Result<Vec<Dim>, Reason> {
    let positions = positions(labels, wanted)?;
    positions.into_iter().map(|dim| all.get(dim).copied().ok_or(Reason::Arguments)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_result_has_the_labels_that_occur_once() {
        let (inputs, result) = split("ij,jk").unwrap();
        assert_eq!((inputs.len(), result), (2, vec!['i', 'k']));
    }

    #[test]
    fn unsupported_equations_are_refused() {
        assert!(split("ii->i").is_err());
        assert!(split("...i->i").is_err());
    }
}
