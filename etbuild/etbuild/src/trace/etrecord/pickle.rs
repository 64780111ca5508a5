//! Tensors as `torch.save` writes them: a zip file with a pickle of protocol 2, and the elements of each tensor as a member.

use std::borrow::Cow;

use et_core::ScalarType;
use zip::result::ZipResult;

use super::archive::archive;

/// A tensor in row-major order.
pub struct Tensor<'t> {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The shape.
    pub shape: Vec<usize>,
    /// The elements, little-endian.
    pub bytes: &'t [u8],
    /// Whether the tensor is a `torch.nn.Parameter`.
    pub is_parameter: bool,
}

/// A `dict` from names to tensors.
///
/// # Errors
/// A failure of the writer of zip files.
pub fn dictionary<'t>(tensors: impl Iterator<Item = (&'t str, Tensor<'t>)>) -> ZipResult<Vec<u8>> {
    let mut pickle = Pickle::new(b"}(");
    for (name, tensor) in tensors {
        pickle.text(name);
        pickle.any(&tensor);
    }
    pickle.finish(b"u.")
}

/// A `list` of tensors.
///
/// # Errors
/// A failure of the writer of zip files.
pub fn list<'t>(tensors: impl Iterator<Item = Tensor<'t>>) -> ZipResult<Vec<u8>> {
    let mut pickle = Pickle::new(b"](");
    tensors.for_each(|tensor| pickle.any(&tensor));
    pickle.finish(b"e.")
}

/// The version of `torch.save`'s format.
const VERSION: &[u8] = b"3\n";

/// The last arguments of both functions, `False, OrderedDict()`, and the call.
const NO_GRADIENT: &[u8] = b"\x89ccollections\nOrderedDict\n)RtR";

/// The opcodes of a pickle so far, and the elements of the tensors.
struct Pickle<'t> {
    opcodes: Vec<u8>,
    elements: Vec<&'t [u8]>,
}

impl<'t> Pickle<'t> {
    fn new(begin: &[u8]) -> Self {
        Self { opcodes: [b"\x80\x02", begin].concat(), elements: Vec::new() }
    }

    /// BINUNICODE.
    fn text(&mut self, text: &str) {
        self.opcodes.push(b'X');
        self.opcodes.extend((text.len() as u32).to_le_bytes());
        self.opcodes.extend_from_slice(text.as_bytes());
    }

    /// BININT, or LONG1 of eight bytes.
    fn number(&mut self, number: usize) {
        match i32::try_from(number) {
            Ok(small) => {
                self.opcodes.push(b'J');
                self.opcodes.extend(small.to_le_bytes());
            }
            Err(_) => {
                self.opcodes.extend(b"\x8a\x08");
                self.opcodes.extend((number as u64).to_le_bytes());
            }
        }
    }

    fn numbers(&mut self, numbers: &[usize]) {
        self.opcodes.push(b'(');
        numbers.iter().for_each(|number| self.number(*number));
        self.opcodes.push(b't');
    }

    /// A tensor, or `torch._utils._rebuild_parameter(tensor, False, OrderedDict())`.
    fn any(&mut self, tensor: &Tensor<'t>) {
        if !tensor.is_parameter {
            return self.tensor(tensor);
        }
        self.opcodes.extend(b"ctorch._utils\n_rebuild_parameter\n(");
        self.tensor(tensor);
        self.opcodes.extend(NO_GRADIENT);
    }

    /// `torch._utils._rebuild_tensor_v2(storage, 0, shape, strides, False, OrderedDict())`.
    fn tensor(&mut self, tensor: &Tensor<'t>) {
        self.opcodes.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        self.text("storage");
        self.opcodes.extend(format!("ctorch\n{}\n", storage(tensor.scalar_type)).into_bytes());
        self.text(&self.elements.len().to_string());
        self.text("cpu");
        self.number(tensor.bytes.len() / tensor.scalar_type.size());
        self.opcodes.extend(b"tQ");
        self.number(0);
        self.numbers(&tensor.shape);
        self.numbers(&strides(&tensor.shape));
        self.opcodes.extend(NO_GRADIENT);
        self.elements.push(tensor.bytes);
    }

    fn finish(mut self, end: &[u8]) -> ZipResult<Vec<u8>> {
        self.opcodes.extend_from_slice(end);
        let mut members = vec![
            ("archive/data.pkl".to_owned(), Cow::from(self.opcodes)),
            ("archive/byteorder".to_owned(), Cow::from(&b"little"[..])),
        ];
        let elements = self.elements.into_iter().enumerate();
        members.extend(elements.map(|(number, bytes)| (format!("archive/data/{number}"), Cow::from(bytes))));
        members.push(("archive/version".to_owned(), Cow::from(VERSION)));
        archive(&members)
    }
}

/// The class of the storage of a type.
const fn storage(scalar_type: ScalarType) -> &'static str {
    match scalar_type {
        ScalarType::Byte => "ByteStorage",
        ScalarType::Char => "CharStorage",
        ScalarType::Short => "ShortStorage",
        ScalarType::Int => "IntStorage",
        ScalarType::Long => "LongStorage",
        ScalarType::Half => "HalfStorage",
        ScalarType::Float => "FloatStorage",
        ScalarType::Double => "DoubleStorage",
        ScalarType::ComplexFloat => "ComplexFloatStorage",
        ScalarType::ComplexDouble => "ComplexDoubleStorage",
        ScalarType::Bool => "BoolStorage",
        ScalarType::BFloat16 => "BFloat16Storage",
    }
}

fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1);
    }
    strides
}
