//! Types and shapes of the results of a call, by the rules of the kernel catalogue.

use et_core::ScalarType;
use et_ops::call::{self, TensorRef};
use et_ops::{Meta, Operator};

use crate::at_sizes::exact;
use crate::kernel_call::plain_argument;
use crate::{Argument, Graph, Interval, OperatorName, TensorSpec, ValueId};

/// Operators that compute the same as an operator of the catalogue with another name, besides those that the catalogue has with `_copy`
/// behind the name.
const OTHER_NAMES: &[(&str, &str)] = &[("aten::reshape", "aten::view_copy")];

/// Operators without a kernel whose result has the shape of the first tensor, and its type unless an argument names another.
const LIKE_FIRST: &[&str] = &[
    "aten::clone",
    "aten::contiguous",
    "aten::log_softmax.int",
    "aten::ones_like",
    "aten::softmax.int",
    "aten::square",
    "aten::to.dtype",
    "aten::zeros_like",
];

/// The rule for the types and shapes of the results of an operator.
#[derive(Clone, Copy, Debug)]
pub enum ResultRule {
    /// That of an operator of the kernel catalogue.
    Catalogue(&'static Operator),
    /// A tensor like the first argument.
    LikeFirst,
}

impl ResultRule {
    /// The rule of an operator; `None` for other operators that only decompositions know, and for those with a list of results.
    pub fn of(operator: &OperatorName) -> Option<Self> {
        let name = operator.qualified();
        if LIKE_FIRST.contains(&name.as_str()) {
            return Some(Self::LikeFirst);
        }
        let other = OTHER_NAMES.iter().find(|(known, _)| *known == name).map(|(_, other)| *other);
        let found = et_ops::find_functional(other.unwrap_or(&name));
        let copy = || {
            let (stem, overload) =
                name.split_once('.').map_or((name.as_str(), None), |(stem, rest)| (stem, Some(rest)));
            let name = overload.map_or_else(|| format!("{stem}_copy"), |overload| format!("{stem}_copy.{overload}"));
            et_ops::find_functional(&name)
        };
        found.or_else(copy).filter(|operator| operator.outs().count().is_some()).map(Self::Catalogue)
    }

    /// The number of results.
    pub fn count(self) -> usize {
        match self {
            Self::Catalogue(operator) => operator.outs().count().unwrap_or(1),
            Self::LikeFirst => 1,
        }
    }

    /// The types and shapes of the results of a call in a graph. Results of arguments with dynamic sizes have the bounds that follow from
    /// the largest and from the least sizes.
    ///
    /// # Errors
    /// The reason why the operator does not take the arguments, as a sentence.
    pub fn specs(self, graph: &Graph, arguments: &[Argument]) -> Result<Vec<TensorSpec>, String> {
        match self {
            Self::Catalogue(operator) => of_catalogue(graph, operator, arguments),
            Self::LikeFirst => like_first(graph, arguments).map(|spec| vec![spec]),
        }
    }
}

fn like_first(graph: &Graph, arguments: &[Argument]) -> Result<TensorSpec, String> {
    let Some(Argument::Value(first)) = arguments.first() else {
        return Err("the first argument is no tensor".to_owned());
    };
    let stated = arguments.iter().find_map(|argument| match argument {
        Argument::Type(scalar_type) => Some(*scalar_type),
        _ => None,
    });
    let TensorSpec { scalar_type, sizes, least, .. } = graph.spec(*first).clone();
    Ok(TensorSpec::contiguous(stated.unwrap_or(scalar_type), sizes).with_least(least))
}

fn of_catalogue(graph: &Graph, operator: &Operator, arguments: &[Argument]) -> Result<Vec<TensorSpec>, String> {
    let dynamic = |id: &ValueId| graph.number(*id).is_some() || graph.spec(*id).is_dynamic();
    let is_dynamic = arguments.iter().flat_map(Argument::uses).any(|id| dynamic(&id));
    // The place of a result is none of the arguments of a kernel.
    let arguments: Vec<&Argument> = arguments.iter().filter(|argument| !matches!(argument, Argument::Place)).collect();
    let most = metas(graph, operator, &arguments, Bound::Most)?;
    let least = if is_dynamic { metas(graph, operator, &arguments, Bound::Least)? } else { most.clone() };
    if most.iter().zip(&least).any(|(most, least)| most.shape.sizes().len() != least.shape.sizes().len()) {
        return Err("the number of dimensions of a result follows the sizes of the arguments".to_owned());
    }
    let spec = |(most, least): (Meta, Meta)| {
        let bounds = |pick: fn(i32, i32) -> i32| -> Vec<i32> {
            most.shape.sizes().iter().zip(least.shape.sizes()).map(|(left, right)| pick(*left, *right)).collect()
        };
        TensorSpec::contiguous(most.scalar_type, bounds(i32::max)).with_least(bounds(i32::min))
    };
    Ok(most.into_iter().zip(least).map(spec).collect())
}

/// Which of the sizes that a dynamic size can have.
#[derive(Clone, Copy)]
enum Bound {
    Most,
    Least,
}

impl Bound {
    const fn of(self, range: Interval) -> i64 {
        match self {
            Self::Most => range.most,
            Self::Least => range.least,
        }
    }
}

fn metas(graph: &Graph, operator: &Operator, arguments: &[&Argument], bound: Bound) -> Result<Vec<Meta>, String> {
    let tensor = |id: ValueId| {
        let spec = graph.spec(id);
        let sizes = match bound {
            Bound::Most => &spec.sizes,
            Bound::Least => &spec.least,
        };
        TensorRef { scalar_type: spec.scalar_type, sizes, bytes: &[] }
    };
    let number = |id: ValueId| {
        let value = bound.of(graph.number(id)?);
        Some(match graph.spec(id).scalar_type {
            ScalarType::Bool => call::Argument::Bool(value != 0),
            ScalarType::Double => call::Argument::Double(value as f64),
            _ => call::Argument::Int(value),
        })
    };
    let arguments: Vec<call::Argument<'_>> =
        arguments.iter().map(|argument| plain_argument(argument, tensor, number)).collect();
    let count = operator.outs().count().unwrap_or(1);
    let refused = || match call::infer(operator, &arguments, &vec![None; count]) {
        Err(error) => error.to_string(),
        Ok(_) => "the sizes of its results depend on the elements".to_owned(),
    };
    exact(operator, &arguments, count).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    const TEXT: &str = "etbuild-ir 1 aten
method forward
  input %x: float32[1..8, 3]
  input %y: int64[4, 5]
  return %x, %y
";

    fn specs(operator: &str, arguments: &[Argument]) -> Result<Vec<TensorSpec>, String> {
        let program = parse(TEXT, &mut |_| None).unwrap().1;
        let rule = ResultRule::of(&OperatorName::parse(operator).unwrap()).ok_or("no rule")?;
        rule.specs(&program.methods["forward"], arguments)
    }

    #[test]
    fn bounds_follow_from_the_largest_and_the_least_sizes() {
        let x = Argument::Value(ValueId(0));
        let float = |most: &[i32], least: &[i32]| TensorSpec::contiguous(ScalarType::Float, most).with_least(least);
        let dims = Argument::Ints(vec![1, 0]);
        assert_eq!(specs("aten.permute.default", &[x.clone(), dims]).unwrap(), [float(&[3, 8], &[3, 1])]);
        assert_eq!(specs("aten.square.default", std::slice::from_ref(&x)).unwrap(), [float(&[8, 3], &[1, 3])]);
        let rows = [x.clone(), Argument::Ints(vec![-1])];
        assert_eq!(specs("aten.reshape.default", &rows).unwrap(), [float(&[24], &[3])]);
        let scaled = specs("aten.mul.Scalar", &[x, Argument::Float(2.0)]).unwrap();
        assert_eq!(scaled, [float(&[8, 3], &[1, 3])]);
    }

    #[test]
    fn operators_without_a_rule_and_arguments_that_do_not_fit_are_told() {
        let y = Argument::Value(ValueId(1));
        assert_eq!(specs("aten.einsum.default", &[]).unwrap_err(), "no rule");
        assert_eq!(specs("aten.split.Tensor", &[]).unwrap_err(), "no rule");
        assert!(
            specs("aten.nonzero.default", std::slice::from_ref(&y)).unwrap_err().contains("depend on the elements")
        );
        assert!(specs("aten.mm.default", &[y.clone(), y]).is_err());
    }
}
