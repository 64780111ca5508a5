//! A graph under construction: values in the representations and orders in which operations read them.

mod border;
mod tokens;

use et_core::{Half, ScalarType};
use et_qnn::Span;
use et_qnn::build::{DataType, Kind, Quantization};
use etbuild_backend::{Refusal, RefusalKind, floats, is_known};
use etbuild_ir::{IdMap, Links, ValueId, in_place};

use crate::encoding::{self, Affine, Encoding};
use crate::program::{Operation, Parameter, Program, Tensor, TensorId};

/// The order of the elements of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the sizes.
    RowMajor,
    /// Channels last, of a value of rank 4: the order of convolutions and pools.
    Nhwc,
}

/// A form in which a value is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// The representation of elements.
    pub encoding: Encoding,
    /// The order of elements.
    pub order: Order,
}

/// The permutation from row-major to NHWC.
const TO_NHWC: [u32; 4] = [0, 2, 3, 1];
/// The permutation from NHWC to row-major.
const FROM_NHWC: [u32; 4] = [0, 3, 1, 2];

/// A graph under construction.
pub struct Builder<'g> {
    /// The partition.
    pub links: &'g Links<'g>,
    /// The graph so far.
    pub program: Program,
    /// The forms in which each value is stored, the computed one first.
    stored: IdMap<Vec<(Form, TensorId)>>,
    /// Rows of tables that the positions of a call select.
    selected: Vec<(ValueId, Span, TensorId)>,
    /// The number of slots of a KV cache that the graph reads, the first ones, where the KV cache has more.
    context: u32,
    /// Whether values without a form are assumed, to check a node by itself.
    probes: bool,
}

/// fp16 in row-major order.
pub const FLOAT: Form = Form { encoding: Encoding::Float, order: Order::RowMajor };

/// The result of a step.
pub type Step<T> = Result<T, Refusal>;

impl<'g> Builder<'g> {
    /// A graph with the inputs of the partition, which reads the first `context` slots of KV caches.
    ///
    /// # Errors
    /// An input that the NPU cannot read.
    pub fn new(links: &'g Links<'g>, context: u32) -> Step<Self> {
        let mut builder = Self { context, ..Self::empty(links, false) };
        let caches: IdMap<()> = links.graph.nodes.iter().flat_map(in_place).map(|(cache, _)| (cache, ())).collect();
        for id in &links.graph.inputs {
            // Nodes read KV caches, and numbers of tokens, in their own ways.
            if caches.get(*id).is_none() && links.graph.spec(*id).scalar_type != ScalarType::Long {
                builder.input(*id)?;
            }
        }
        Ok(builder)
    }

    /// A graph for a single node, whose operands are assumed.
    pub fn for_node(links: &'g Links<'g>) -> Self {
        Self::empty(links, true)
    }

    fn empty(links: &'g Links<'g>, probes: bool) -> Self {
        let (program, stored, selected) = (Program::default(), IdMap::default(), Vec::new());
        Self { links, program, stored, selected, context: u32::MAX, probes }
    }

    /// The sizes of a value in an order.
    pub fn sizes(&self, id: ValueId, order: Order) -> Vec<u32> {
        let spec = self.links.graph.spec(id);
        let sizes: Vec<u32> = spec.sizes.iter().map(|size| u32::try_from(*size).unwrap_or(0)).collect();
        match (order, &sizes[..]) {
            (Order::Nhwc, [n, c, h, w]) => vec![*n, *h, *w, *c],
            // The library has no tensors without dimensions.
            (_, []) => vec![1],
            _ => sizes,
        }
    }

    fn name(&self, id: ValueId) -> String {
        self.links.graph.value(id).name.clone()
    }

    /// A tensor inside the graph, in the form of a value.
    pub fn native(&mut self, id: ValueId, form: Form) -> TensorId {
        self.temporary(id, form.encoding, self.sizes(id, form.order))
    }

    /// A tensor inside the graph, named after a value.
    pub fn temporary(&mut self, id: ValueId, encoding: Encoding, sizes: Vec<u32>) -> TensorId {
        let (data_type, quantization) = encoding.tensor();
        let name = self.name(id);
        self.program.tensor(Tensor { name, kind: Kind::Native, data_type, quantization, sizes, data: Vec::new() })
    }

    /// A constant, whose elements `data` computes.
    pub fn constant(
        &mut self,
        name: &str,
        (data_type, quantization): (DataType, Quantization),
        sizes: Vec<u32>,
        data: impl FnOnce() -> Vec<u8>,
    ) -> TensorId {
        // The check of a node needs no elements.
        let (name, data) = (name.to_owned(), if self.probes { Vec::new() } else { data() });
        self.program.tensor(Tensor { name, kind: Kind::Static, data_type, quantization, sizes, data })
    }

    /// A constant of numbers in an encoding.
    pub fn numbers(&mut self, name: &str, encoding: Encoding, sizes: Vec<u32>, numbers: &[f32]) -> TensorId {
        let data = || match encoding {
            Encoding::Integer(affine) => affine.bytes(numbers),
            Encoding::Float => numbers.iter().flat_map(|number| Half::from_f32(*number).0.to_le_bytes()).collect(),
            Encoding::Single => numbers.iter().flat_map(|number| number.to_le_bytes()).collect(),
        };
        self.constant(name, encoding.tensor(), sizes, data)
    }

    /// The elements of a constant or dequantized constant; none for the check of a node.
    ///
    /// # Errors
    /// A constant that is not made of floating-point numbers.
    pub fn floats(&self, id: ValueId) -> Step<Vec<f32>> {
        if self.probes {
            let is_float = matches!(self.links.graph.spec(id).scalar_type, ScalarType::Float | ScalarType::Double);
            return if is_float && is_known(self.links, id) { Ok(Vec::new()) } else { Err(not_float()) };
        }
        floats(self.links, id).ok_or_else(not_float)
    }

    /// Adds an operation.
    pub fn operation(
        &mut self,
        type_name: &'static str,
        parameters: Vec<(&'static str, Parameter)>,
        inputs: Vec<TensorId>,
        output: TensorId,
    ) {
        let parameters = parameters.into_iter().map(|(name, parameter)| (name.to_owned(), parameter)).collect();
        self.program.operations.push(Operation { type_name: type_name.to_owned(), parameters, inputs, output });
    }

    /// States that a tensor holds a value in a form.
    pub fn store(&mut self, id: ValueId, form: Form, tensor: TensorId) {
        match self.stored.get_mut(id) {
            Some(forms) => forms.push((form, tensor)),
            None => drop(self.stored.insert(id, vec![(form, tensor)])),
        }
    }

    /// The form in which a value was computed.
    ///
    /// # Errors
    /// A value that the NPU does not hold.
    pub fn form(&mut self, id: ValueId) -> Step<Form> {
        if self.probes && self.stored.get(id).is_none() && self.links.graph.constant(id).is_none() {
            let encoding = self.assumed(id)?;
            let form = Form { encoding, order: Order::RowMajor };
            let tensor = self.native(id, form);
            self.store(id, form, tensor);
        }
        let forms = self.stored.get(id).and_then(|forms| forms.first());
        forms.map(|(form, _)| *form).ok_or_else(|| {
            Refusal::new(
                RefusalKind::Partition,
                format!("`{}` has no form on the NPU", self.links.graph.value(id).name),
            )
        })
    }

    /// The encoding that a value of another node will have.
    fn assumed(&self, id: ValueId) -> Step<Encoding> {
        let scalar_type = self.links.graph.spec(id).scalar_type;
        let integers = match scalar_type {
            ScalarType::Float | ScalarType::Half => {
                let dequantized = self.links.maker(id).and_then(encoding::dequantizes);
                return Ok(dequantized.map_or(Encoding::Float, Encoding::Integer));
            }
            ScalarType::Byte | ScalarType::Char | ScalarType::Short => encoding::of_integers(self.links, id),
            _ => None,
        };
        integers
            .map(Encoding::Integer)
            .ok_or_else(|| Refusal::new(RefusalKind::Type, format!("the NPU has no tensors of {}", scalar_type.name())))
    }

    /// Whether a value is a constant, perhaps behind a dequantization.
    pub fn is_constant(&self, id: ValueId) -> bool {
        self.stored.get(id).is_none() && is_known(self.links, id)
    }

    /// A value in a form: the stored one, or a conversion, which is stored too.
    ///
    /// # Errors
    /// A value that the NPU does not hold.
    pub fn read(&mut self, id: ValueId, form: Form) -> Step<TensorId> {
        let computed = self.form(id)?;
        let find = |builder: &Self, form: Form| {
            let forms = builder.stored.get(id)?;
            forms.iter().find(|(known, _)| *known == form).map(|(_, tensor)| *tensor)
        };
        if let Some(tensor) = find(self, form) {
            return Ok(tensor);
        }
        // Elements are converted before they are moved.
        let converted = Form { order: computed.order, ..form };
        let source = match find(self, converted) {
            Some(tensor) => tensor,
            None => {
                let from =
                    find(self, computed).ok_or_else(|| Refusal::new(RefusalKind::Partition, "a value is lost"))?;
                self.converted(id, computed, converted, from)
            }
        };
        if converted == form {
            return Ok(source);
        }
        let permutation = if form.order == Order::Nhwc { TO_NHWC } else { FROM_NHWC };
        let moved = self.native(id, form);
        let parameter = Parameter::Integers(vec![4], permutation.to_vec());
        self.operation("Transpose", vec![("perm", parameter)], vec![source], moved);
        self.store(id, form, moved);
        Ok(moved)
    }

    /// Converts the elements of a value.
    fn converted(&mut self, id: ValueId, from: Form, to: Form, tensor: TensorId) -> TensorId {
        let type_name = match (from.encoding, to.encoding) {
            (Encoding::Integer(_), Encoding::Integer(_)) => "Convert",
            (Encoding::Integer(_), _) => "Dequantize",
            (_, Encoding::Integer(_)) => "Quantize",
            _ => "Cast",
        };
        let made = self.native(id, to);
        self.operation(type_name, Vec::new(), vec![tensor], made);
        self.store(id, to, made);
        made
    }

    /// A constant value, or a computed one, in a form.
    ///
    /// # Errors
    /// A constant that is not made of floating-point numbers.
    pub fn operand(&mut self, id: ValueId, form: Form) -> Step<TensorId> {
        if !self.is_constant(id) {
            return self.read(id, form);
        }
        let numbers = self.floats(id)?;
        Ok(self.ordered(id, form, numbers))
    }

    /// A constant of a value's elements, which are row-major, in a form.
    fn ordered(&mut self, id: ValueId, form: Form, numbers: Vec<f32>) -> TensorId {
        let sizes = self.sizes(id, Order::RowMajor);
        let numbers = if form.order == Order::Nhwc { to_nhwc(&numbers, &sizes) } else { numbers };
        let (name, sizes) = (self.name(id), self.sizes(id, form.order));
        self.numbers(&name, form.encoding, sizes, &numbers)
    }

    /// The encoding in which a node computes: integers, if all computed operands are integers of one type and the result becomes integers; else
    /// fp16.
    ///
    /// # Errors
    /// A value that the NPU does not hold.
    pub fn encoding(&mut self, operands: &[ValueId], output: ValueId) -> Step<Encoding> {
        let Some(wanted) = encoding::wanted(self.links, output) else { return Ok(Encoding::Float) };
        for id in operands {
            if self.is_constant(*id) {
                continue;
            }
            match self.form(*id)?.encoding {
                Encoding::Integer(affine) if affine.data_type == wanted.data_type => {}
                _ => return Ok(Encoding::Float),
            }
        }
        Ok(Encoding::Integer(wanted))
    }

    /// An operand of a node that computes in an encoding: a value with its own qparams, or fp16.
    ///
    /// # Errors
    /// A value that the NPU does not hold.
    pub fn take(&mut self, id: ValueId, computes: Encoding, order: Order) -> Step<TensorId> {
        if self.is_constant(id) {
            let numbers = self.floats(id)?;
            let encoding = match computes {
                Encoding::Integer(affine) => Encoding::Integer(Affine::of_numbers(affine.data_type, &numbers)),
                other => other,
            };
            return Ok(self.ordered(id, Form { encoding, order }, numbers));
        }
        let encoding = match computes {
            Encoding::Integer(_) => self.form(id)?.encoding,
            other => other,
        };
        self.read(id, Form { encoding, order })
    }

    /// Adds an operation of one operand in an order, with the result in the same order.
    ///
    /// # Errors
    /// A value that the NPU does not hold.
    pub fn map(
        &mut self,
        type_name: &'static str,
        parameters: Vec<(&'static str, Parameter)>,
        [input, output]: [ValueId; 2],
        order: Order,
    ) -> Step<()> {
        let encoding = self.encoding(&[input], output)?;
        let operand = self.take(input, encoding, order)?;
        self.compute(type_name, parameters, vec![operand], (output, Form { encoding, order }));
        Ok(())
    }

    /// Adds an operation that computes a value, and states its form.
    pub fn compute(
        &mut self,
        type_name: &'static str,
        parameters: Vec<(&'static str, Parameter)>,
        inputs: Vec<TensorId>,
        (id, form): (ValueId, Form),
    ) {
        let output = self.native(id, form);
        self.operation(type_name, parameters, inputs, output);
        self.store(id, form, output);
    }
}

/// The refusal of other numbers.
pub fn not_float() -> Refusal {
    Refusal::new(RefusalKind::Type, "an operand is not made of floating-point numbers")
}

/// Elements of an NCHW image as NHWC.
fn to_nhwc(numbers: &[f32], sizes: &[u32]) -> Vec<f32> {
    let [n, c, h, w] = *sizes else { return numbers.to_vec() };
    let (n, c, pixels) = (n as usize, c as usize, (h * w) as usize);
    let from = |image: usize, pixel: usize, channel: usize| (image * c + channel) * pixels + pixel;
    let places =
        (0..n).flat_map(|image| (0..pixels).flat_map(move |pixel| (0..c).map(move |channel| (image, pixel, channel))));
    places.filter_map(|(image, pixel, channel)| numbers.get(from(image, pixel, channel)).copied()).collect()
}
