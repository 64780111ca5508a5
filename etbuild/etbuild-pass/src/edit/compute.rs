//! Arithmetic for rules.

use et_core::{BFloat16, Half, ScalarType};
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::{Dim, Editor};
use crate::Reason;

type Made = Result<ValueId, Reason>;

/// The largest constant that a rule creates, in bytes.
const LARGEST: usize = 1 << 22;

impl Editor {
    /// An elementwise operator without further arguments.
    pub fn apply(&mut self, name: &str, of: ValueId) -> Made {
        self.map(&format!("{name}.default"), of, vec![])
    }

    /// `of + number`.
    pub fn plus(&mut self, of: ValueId, number: f64) -> Made {
        self.map("add.Scalar", of, vec![Argument::Float(number), Argument::Int(1)])
    }

    /// `of * number`.
    pub fn times(&mut self, of: ValueId, number: f64) -> Made {
        self.map("mul.Scalar", of, vec![Argument::Float(number)])
    }

    /// An arithmetic operator on two tensors: `add`, `mul`, ...
    pub fn pair(&mut self, name: &str, left: ValueId, right: ValueId) -> Made {
        if matches!(name, "add" | "sub") {
            let output = self.common(left, right)?;
            let arguments = vec![Argument::Value(left), Argument::Value(right), Argument::Int(1)];
            return self.call(&format!("{name}.Tensor"), arguments, output);
        }
        self.combine(&format!("{name}.Tensor"), [left, right])
    }

    /// The mask of a comparison: `lt.Scalar`, `eq.Tensor`, ...
    pub fn compare(&mut self, name: &str, left: ValueId, right: Argument) -> Made {
        let mut output = match right {
            Argument::Value(right) => self.common(left, right)?,
            _ => self.spec(left).clone(),
        };
        output.scalar_type = ScalarType::Bool;
        self.call(name, vec![Argument::Value(left), right], output)
    }

    /// An elementwise operator with a boolean result.
    pub fn test(&mut self, name: &str, of: ValueId) -> Made {
        let mut output = self.spec(of).clone();
        output.scalar_type = ScalarType::Bool;
        self.call(&format!("{name}.default"), vec![Argument::Value(of)], output)
    }

    /// Selects by a mask (`where`), with broadcasting to the shape of `output`.
    pub fn choose(&mut self, mask: ValueId, yes: ValueId, no: ValueId, output: TensorSpec) -> Made {
        self.call("where.self", [mask, yes, no].map(Argument::Value).to_vec(), output)
    }

    /// A number as a tensor of rank 0.
    pub fn number(&mut self, number: Argument, scalar_type: ScalarType) -> Made {
        self.full(number, TensorSpec::contiguous(scalar_type, []))
    }

    /// A tensor argument, or a number of the program or of the archive, such as a size, as a tensor of rank 0.
    pub fn operand(&mut self, argument: &Argument, scalar_type: ScalarType) -> Made {
        match argument {
            Argument::Value(id) if !self.is_number(*id) => Ok(*id),
            number => self.number(number.clone(), scalar_type),
        }
    }

    /// A reduction over `dims`, such as `sum.dim_IntList`, with further arguments. `keep` keeps the dimensions with
    /// size 1.
    pub fn reduce(&mut self, name: &str, of: ValueId, dims: &[usize], keep: bool, rest: Vec<Argument>) -> Made {
        let output = Dim::spec(self.spec(of).scalar_type, &reduced(&self.dims(of), dims, keep));
        let listed = Argument::Ints(dims.iter().map(|dim| *dim as i64).collect());
        let arguments = [Argument::Value(of), listed, Argument::Bool(keep)].into_iter().chain(rest).collect();
        self.call(name, arguments, output)
    }

    /// The sum over `dims`.
    pub fn sum(&mut self, of: ValueId, dims: &[usize], keep: bool) -> Made {
        self.reduce("sum.dim_IntList", of, dims, keep, vec![Argument::None])
    }

    /// The positions `index` of a dimension.
    pub fn select_many(&mut self, of: ValueId, dim: usize, index: &[i64]) -> Made {
        let mut dims = self.dims(of);
        let count = i32::try_from(index.len()).map_err(|_| Reason::Arguments)?;
        *dims.get_mut(dim).ok_or(Reason::Arguments)? = Dim::from(count);
        let output = Dim::spec(self.spec(of).scalar_type, &dims);
        let index = self.integers(index)?;
        let arguments = vec![Argument::Value(of), Argument::Int(dim as i64), Argument::Value(index)];
        self.call("index_select.default", arguments, output)
    }

    /// A constant vector of integers.
    pub fn integers(&mut self, elements: &[i64]) -> Made {
        let size = i32::try_from(elements.len()).map_err(|_| Reason::Arguments)?;
        let bytes = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        Ok(self.constant(TensorSpec::contiguous(ScalarType::Long, [size]), bytes))
    }

    /// A constant mask.
    pub fn mask(&mut self, sizes: &[i32], elements: impl Iterator<Item = bool>) -> Made {
        let spec = TensorSpec::contiguous(ScalarType::Bool, sizes);
        self.check_size(&spec)?;
        Ok(self.constant(spec, elements.map(u8::from).collect()))
    }

    /// A constant of any type, from representable numbers.
    pub fn numbers(&mut self, spec: TensorSpec, elements: impl Iterator<Item = f64>) -> Made {
        self.check_size(&spec)?;
        let bytes = elements.flat_map(|element| encoded(spec.scalar_type, element)).collect();
        Ok(self.constant(spec, bytes))
    }

    fn check_size(&self, spec: &TensorSpec) -> Result<(), Reason> {
        if spec.nbytes() > LARGEST {
            Err(Reason::Unsupported("a constant of more than four million bytes"))
        } else {
            Ok(())
        }
    }

    /// The promoted type and the broadcast shape.
    pub(super) fn common(&self, left: ValueId, right: ValueId) -> Result<TensorSpec, Reason> {
        let dims = Dim::broadcast(&self.dims(left), &self.dims(right))?;
        Ok(Dim::spec(self.spec(left).scalar_type.promote(self.spec(right).scalar_type), &dims))
    }
}

/// The sizes after a reduction over `dims`.
pub fn reduced<S: Copy + From<i32>>(sizes: &[S], dims: &[usize], keep: bool) -> Vec<S> {
    let size = |(dim, size): (usize, &S)| match dims.contains(&dim) {
        true if keep => Some(S::from(1)),
        true => None,
        false => Some(*size),
    };
    sizes.iter().enumerate().filter_map(size).collect()
}

fn encoded(scalar_type: ScalarType, element: f64) -> Vec<u8> {
    match scalar_type {
        ScalarType::Double => element.to_le_bytes().to_vec(),
        ScalarType::Float => (element as f32).to_le_bytes().to_vec(),
        ScalarType::Half => Half::from_f32(element as f32).0.to_le_bytes().to_vec(),
        ScalarType::BFloat16 => BFloat16::from_f32(element as f32).0.to_le_bytes().to_vec(),
        _ => (element as i64).to_le_bytes()[..scalar_type.size()].to_vec(),
    }
}
