//! Adding calls to a graph during rewriting.

use et_core::ScalarType;
use etbuild_ir::{Argument, Node, OperatorName, TensorSpec, ValueId};

use super::{Call, Dim, Editor};
use crate::Reason;

type Made = Result<ValueId, Reason>;

impl Editor {
    /// Calls an ATen operator `name.overload` with a single output. The call is rewritten if the operator has a rule.
    pub fn call(&mut self, name: &str, arguments: Vec<Argument>, output: TensorSpec) -> Made {
        self.call_many(name, arguments, vec![output])?.first().copied().ok_or(Reason::Arguments)
    }

    /// Calls an ATen operator with any number of outputs.
    pub fn call_many(
        &mut self,
        name: &str,
        arguments: Vec<Argument>,
        outputs: Vec<TensorSpec>,
    ) -> Result<Vec<ValueId>, Reason> {
        let operator = OperatorName::parse(&format!("aten.{name}")).ok_or(Reason::Arguments)?;
        let rule = (self.rules)(&operator);
        let call = Call { operator, arguments, outputs };
        match rule {
            Some(rule) => rule(self, &call),
            None => Ok(self.keep(call)),
        }
    }

    /// Adds a call without applying rules.
    pub fn keep(&mut self, call: Call) -> Vec<ValueId> {
        let outputs: Vec<_> = call.outputs.into_iter().map(|spec| self.new_value(&call.operator, spec)).collect();
        self.graph.nodes.push(Node { operator: call.operator, arguments: call.arguments, outputs: outputs.clone() });
        outputs
    }

    /// Adds a call of the ATen operator `name` with the first `count` arguments of `call`.
    pub fn keep_as(&mut self, name: &str, call: &Call, count: usize) -> Vec<ValueId> {
        let operator = OperatorName::parse(&format!("aten.{name}")).unwrap_or(call.operator.clone());
        let arguments = call.arguments.iter().take(count).cloned().collect();
        self.keep(Call { operator, arguments, outputs: call.outputs.clone() })
    }

    /// Calls an operator with an output like the first argument.
    pub fn map(&mut self, name: &str, of: ValueId, rest: Vec<Argument>) -> Made {
        let output = self.spec(of).clone();
        self.call(name, std::iter::once(Argument::Value(of)).chain(rest).collect(), output)
    }

    /// Calls an operator on two tensors, with an output of the broadcast shape.
    pub fn combine(&mut self, name: &str, operands: [ValueId; 2]) -> Made {
        let output = self.common(operands[0], operands[1])?;
        self.call(name, operands.map(Argument::Value).to_vec(), output)
    }

    /// Reshapes a value.
    pub fn view(&mut self, of: ValueId, sizes: &[i32]) -> Made {
        if self.spec(of).is_dynamic() {
            return Err(Reason::Dynamic);
        }
        if self.spec(of).sizes == sizes {
            return Ok(of);
        }
        let output = TensorSpec::contiguous(self.spec(of).scalar_type, sizes);
        self.call("view.default", vec![Argument::Value(of), wide(sizes)], output)
    }

    /// Permutes dimensions.
    pub fn permute(&mut self, of: ValueId, dims: &[usize]) -> Made {
        let known = self.dims(of);
        let sizes: Option<Vec<Dim>> = dims.iter().map(|dim| known.get(*dim).copied()).collect();
        let output = Dim::spec(self.spec(of).scalar_type, &sizes.ok_or(Reason::Arguments)?);
        let dims = Argument::Ints(dims.iter().map(|dim| *dim as i64).collect());
        self.call("permute.default", vec![Argument::Value(of), dims], output)
    }

    /// Swaps the last two dimensions.
    pub fn transpose(&mut self, of: ValueId) -> Made {
        let rank = self.spec(of).rank();
        let mut dims: Vec<usize> = (0..rank).collect();
        dims.swap(rank.checked_sub(2).ok_or(Reason::Arguments)?, rank - 1);
        self.permute(of, &dims)
    }

    /// Positions `start..end` of a dimension.
    pub fn slice(&mut self, of: ValueId, dim: usize, start: i64, end: i64) -> Made {
        let mut output = self.spec(of).clone();
        let size = *self.dims(of).get(dim).ok_or(Reason::Arguments)?;
        if start < 0 || end < start || end > i64::from(size.most) {
            return Err(Reason::Arguments);
        }
        if end > i64::from(size.least) {
            return Err(Reason::Dynamic);
        }
        let length = i32::try_from(end - start).map_err(|_| Reason::Arguments)?;
        output.set_size(dim, length).ok_or(Reason::Arguments)?;
        let bounds = [dim as i64, start, end, 1].map(Argument::Int);
        self.call("slice.Tensor", std::iter::once(Argument::Value(of)).chain(bounds).collect(), output)
    }

    /// The first positions of a static dimension, as many as a size counts.
    pub fn first(&mut self, of: ValueId, dim: usize, count: Dim) -> Made {
        let mut dims = self.dims(of);
        if dims.get(dim).is_some_and(|size| !size.is_dynamic() && !count.is_dynamic() && size.most == count.most) {
            return Ok(of);
        }
        *dims.get_mut(dim).ok_or(Reason::Arguments)? = count;
        let output = Dim::spec(self.spec(of).scalar_type, &dims);
        let end = self.size_argument(count)?;
        let bounds = [Argument::Int(dim as i64), Argument::Int(0), end, Argument::Int(1)];
        self.call("slice.Tensor", std::iter::once(Argument::Value(of)).chain(bounds).collect(), output)
    }

    /// The first rows and columns of a static matrix, as many as sizes count.
    pub fn corner(&mut self, of: ValueId, [rows, columns]: [Dim; 2]) -> Made {
        let part = self.first(of, 0, rows)?;
        self.first(part, 1, columns)
    }

    /// The last positions of a dimension with at least `count` positions.
    pub fn last(&mut self, of: ValueId, dim: usize, count: i32) -> Made {
        let mut output = self.spec(of).clone();
        if self.dims(of).get(dim).is_none_or(|size| size.least < count) {
            return Err(Reason::Dynamic);
        }
        output.set_size(dim, count).ok_or(Reason::Arguments)?;
        let bounds = [dim as i64, -i64::from(count), i64::MAX, 1].map(Argument::Int);
        self.call("slice.Tensor", std::iter::once(Argument::Value(of)).chain(bounds).collect(), output)
    }

    /// Concatenates tensors along a dimension.
    pub fn cat(&mut self, of: Vec<ValueId>, dim: usize, output: TensorSpec) -> Made {
        self.call("cat.default", vec![Argument::values(of), Argument::Int(dim as i64)], output)
    }

    /// Broadcasts a value: expands dimensions of size 1, and adds leading dimensions.
    pub fn expand(&mut self, of: ValueId, sizes: &[i32]) -> Made {
        if self.spec(of).is_dynamic() {
            return Err(Reason::Dynamic);
        }
        if self.spec(of).sizes == sizes {
            return Ok(of);
        }
        let output = TensorSpec::contiguous(self.spec(of).scalar_type, sizes);
        self.call("expand.default", vec![Argument::Value(of), wide(sizes), Argument::Bool(false)], output)
    }

    /// Converts a value to another type.
    pub fn convert(&mut self, of: ValueId, to: ScalarType) -> Made {
        if self.spec(of).scalar_type == to {
            return Ok(of);
        }
        let output = TensorSpec { scalar_type: to, ..self.spec(of).clone() };
        let nothing = || Argument::None;
        let rest = [Argument::Type(to), nothing(), nothing(), nothing(), Argument::Bool(false), nothing()];
        self.call("_to_copy.default", std::iter::once(Argument::Value(of)).chain(rest).collect(), output)
    }

    /// A tensor filled with a number.
    pub fn full(&mut self, number: Argument, output: TensorSpec) -> Made {
        if output.is_dynamic() {
            return Err(Reason::Dynamic);
        }
        let sizes = wide(&output.sizes);
        self.full_of(sizes, number, output)
    }

    /// A tensor filled with a number, with `sizes` as an argument.
    pub fn full_of(&mut self, sizes: Argument, number: Argument, output: TensorSpec) -> Made {
        let rest = [Argument::Type(output.scalar_type), Argument::Place, Argument::Place, Argument::Bool(false)];
        self.call("full.default", [sizes, number].into_iter().chain(rest).collect(), output)
    }
}

/// Sizes as an argument.
pub fn wide(sizes: &[i32]) -> Argument {
    Argument::Ints(sizes.iter().copied().map(i64::from).collect())
}
