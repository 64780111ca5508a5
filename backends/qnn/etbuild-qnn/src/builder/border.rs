//! The border of a partition: the tensors of the delegate call.

use et_core::ScalarType;
use et_qnn::Binding;
use et_qnn::build::{DataType, Kind, Quantization};
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::encoding::{self, Affine, Encoding};
use crate::program::{Tensor, TensorId};

use super::{Builder, Form, Order, Step, not_float};

impl Builder<'_> {
    /// Adds an input of the call.
    pub(super) fn input(&mut self, id: ValueId) -> Step<()> {
        self.entry(id, None, self.sizes(id, Order::RowMajor), Binding::default())
    }

    /// Adds a KV cache as an input of the call, of which the graph reads the first slots. `affine` is the encoding of integers.
    pub(super) fn past(&mut self, id: ValueId, affine: Option<Affine>, binding: Binding) -> Step<()> {
        let mut sizes = self.sizes(id, Order::RowMajor);
        sizes.splice(1..2, [binding.ring.read]);
        self.entry(id, affine, sizes, binding)
    }

    /// Adds an input of the call. `affine` is the encoding of integers that no node states.
    fn entry(&mut self, id: ValueId, affine: Option<Affine>, sizes: Vec<u32>, binding: Binding) -> Step<()> {
        let border = match self.links.graph.spec(id).scalar_type {
            ScalarType::Float => Border::Numbers(Encoding::Single),
            ScalarType::Half => Border::Numbers(Encoding::Float),
            other => Border::integers(other, affine.or_else(|| encoding::of_integers(self.links, id)))?,
        };
        let binding = Binding { argument: self.argument(id)?, ..binding };
        let tensor = self.bound_input(&self.name(id), border.tensor(), sizes.clone(), binding);
        let form = Form { encoding: border.inside(), order: Order::RowMajor };
        let inside = match border.is_stored_so() {
            true => tensor,
            false => {
                let made = self.temporary(id, form.encoding, sizes);
                self.operation("Convert", Vec::new(), vec![tensor], made);
                made
            }
        };
        self.store(id, form, inside);
        Ok(())
    }

    /// Adds an input of the graph.
    pub(super) fn bound_input(
        &mut self,
        name: &str,
        (data_type, quantization): (DataType, Quantization),
        sizes: Vec<u32>,
        binding: Binding,
    ) -> TensorId {
        let (name, kind, data) = (name.to_owned(), Kind::Input, Vec::new());
        let tensor = self.program.tensor(Tensor { name, kind, data_type, quantization, sizes, data });
        self.program.inputs.push((tensor, binding));
        tensor
    }

    /// The position of an input of the partition among the arguments of the call; 0 for the check of a node.
    ///
    /// # Errors
    /// A value that is computed in the partition.
    pub fn argument(&self, id: ValueId) -> Step<u32> {
        let position = self.links.graph.inputs.iter().position(|input| *input == id);
        match position {
            Some(position) => Ok(position as u32),
            None if self.probes => Ok(0),
            None => Err(Refusal::new(
                RefusalKind::Partition,
                format!("`{}` is not an input of the partition", self.name(id)),
            )),
        }
    }

    /// Adds the outputs of the call.
    ///
    /// # Errors
    /// An output that the NPU cannot write.
    pub fn finish(&mut self) -> Step<()> {
        let inputs = self.links.graph.inputs.len();
        for (position, id) in self.links.graph.outputs.clone().into_iter().enumerate() {
            let argument = (inputs + position) as u32;
            // The output of a written KV cache has the memory of the cache: rows are written there.
            let (source, binding) = match self.written(id)? {
                Some((rows, binding)) => (rows, Binding { argument, ..binding }),
                None => (id, Binding { argument, ..Binding::default() }),
            };
            self.output(source, self.links.graph.spec(id).scalar_type, binding)?;
        }
        Ok(())
    }

    /// Adds an output of the graph: a value in a type.
    fn output(&mut self, id: ValueId, scalar_type: ScalarType, binding: Binding) -> Step<()> {
        let encoding = self.form(id)?.encoding;
        let border = match (scalar_type, encoding) {
            (ScalarType::Float, _) => Border::Numbers(Encoding::Single),
            (ScalarType::Half, _) => Border::Numbers(Encoding::Float),
            (other, Encoding::Integer(affine)) => Border::integers(other, Some(affine))?,
            _ => return Err(not_float()),
        };
        let source = self.read(id, Form { encoding: border.source(encoding), order: Order::RowMajor })?;
        let (data_type, quantization) = border.tensor();
        let (sizes, name) = (self.sizes(id, Order::RowMajor), self.name(id));
        let (kind, data) = (Kind::Output, Vec::new());
        let tensor = self.program.tensor(Tensor { name, kind, data_type, quantization, sizes, data });
        let type_name = match (border.source(encoding), border) {
            (Encoding::Integer(_), Border::Numbers(_)) => "Dequantize",
            (Encoding::Float, Border::Numbers(Encoding::Single)) => "Cast",
            (from, _) if from == border.inside() && border.is_stored_so() => "Reshape",
            _ => "Convert",
        };
        self.operation(type_name, Vec::new(), vec![source], tensor);
        self.program.outputs.push((tensor, binding));
        Ok(())
    }
}

/// A value at the border of the partition.
#[derive(Clone, Copy)]
enum Border {
    /// Floating-point numbers.
    Numbers(Encoding),
    /// Unsigned integers, as inside.
    Unsigned(Affine),
    /// Signed integers of a type.
    Signed(Affine, DataType),
}

impl Border {
    fn integers(scalar_type: ScalarType, affine: Option<Affine>) -> Step<Self> {
        match (scalar_type, affine) {
            (ScalarType::Byte, Some(affine)) => Ok(Self::Unsigned(affine)),
            (ScalarType::Char, Some(affine)) => Ok(Self::Signed(affine, DataType::Int8)),
            (ScalarType::Short, Some(affine)) => Ok(Self::Signed(affine, DataType::Int16)),
            (ScalarType::Byte | ScalarType::Char | ScalarType::Short, None) => {
                Err(Refusal::new(RefusalKind::Quantization, "the integers of a tensor have no scale"))
            }
            (other, _) => Err(Refusal::new(RefusalKind::Type, format!("the NPU has no tensors of {}", other.name()))),
        }
    }

    /// The tensor of the call.
    fn tensor(self) -> (DataType, Quantization) {
        match self {
            Self::Numbers(encoding) => encoding.tensor(),
            Self::Unsigned(affine) => Encoding::Integer(affine).tensor(),
            Self::Signed(affine, data_type) => {
                let half = (affine.most() + 1) / 2;
                (data_type, Affine { zero: affine.zero - half, ..affine }.quantization())
            }
        }
    }

    /// The encoding inside.
    const fn inside(self) -> Encoding {
        match self {
            Self::Numbers(encoding) => encoding,
            Self::Unsigned(affine) | Self::Signed(affine, _) => Encoding::Integer(affine),
        }
    }

    const fn is_stored_so(self) -> bool {
        !matches!(self, Self::Signed(..))
    }

    /// The encoding from which an output is written.
    const fn source(self, computed: Encoding) -> Encoding {
        match (self, computed) {
            (Self::Numbers(_), Encoding::Integer(affine)) => Encoding::Integer(affine),
            (Self::Numbers(Encoding::Single), Encoding::Single) => Encoding::Single,
            (Self::Numbers(_), _) => Encoding::Float,
            (Self::Unsigned(affine) | Self::Signed(affine, _), _) => Encoding::Integer(affine),
        }
    }
}
