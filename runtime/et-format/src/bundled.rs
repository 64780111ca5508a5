//! A bundled program (`.bpte`): a program file with test inputs and expected outputs.
//!
//! The schema is `devtools/bundled_program/schema/bundled_program_schema.fbs` of ExecuTorch 1.5, identifier `BP08`.

use et_core::{Error, Indices, Result, ScalarType, TensorLayout};

use crate::view::views;
use crate::{List, Table};

/// Bytes 4 to 7 of every bundled program.
pub const BUNDLE_IDENTIFIER: &[u8; 4] = b"BP08";

views! {
    /// The root table.
    BundledProgram;
    /// The cases of a method.
    BundledSuite;
    /// Inputs with the expected outputs of eager mode.
    BundledCase;
    /// A tensor in a case.
    BundledTensor;
    /// An input or output, which the reader tells apart.
    BundledSlot;
}

/// An input or output.
#[derive(Clone, Copy, Debug)]
pub enum BundledValue<'a> {
    /// A tensor.
    Tensor(BundledTensor<'a>),
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
}

impl<'a> BundledProgram<'a> {
    /// Whether a file has the identifier of a bundled program.
    pub fn has_identifier(bytes: &[u8]) -> bool {
        bytes.get(4..8) == Some(BUNDLE_IDENTIFIER)
    }

    /// Checks the frame of a bundled program.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if !Self::has_identifier(bytes) {
            return Err(Error::InvalidProgram);
        }
        Table::root(bytes).map(Self)
    }

    /// The version of the schema: 0.
    pub fn version(self) -> Result<u32> {
        self.0.u32(0)
    }

    /// The cases of each method that has some.
    pub fn suites(self) -> Result<List<'a, BundledSuite<'a>>> {
        self.0.tables(1).map(List::new)
    }

    /// The program file.
    pub fn program(self) -> Result<&'a [u8]> {
        self.0.vector(2, 1)
    }
}

impl<'a> BundledSuite<'a> {
    /// The method's name.
    pub fn method_name(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The method's cases.
    pub fn cases(self) -> Result<List<'a, BundledCase<'a>>> {
        self.0.tables(1).map(List::new)
    }
}

impl<'a> BundledCase<'a> {
    /// The inputs of the method, a value each.
    pub fn inputs(self) -> Result<List<'a, BundledSlot<'a>>> {
        self.0.tables(0).map(List::new)
    }

    /// The outputs that should come.
    pub fn expected_outputs(self) -> Result<List<'a, BundledSlot<'a>>> {
        self.0.tables(1).map(List::new)
    }
}

impl<'a> BundledSlot<'a> {
    /// The value.
    pub fn read(self) -> Result<BundledValue<'a>> {
        let content = self.0.required_table(1)?;
        match self.0.u8(0)? {
            1 => Ok(BundledValue::Tensor(BundledTensor(content))),
            2 => content.u64(0).map(|number| BundledValue::Int(number.cast_signed())),
            3 => content.u8(0).map(|byte| BundledValue::Bool(byte != 0)),
            4 => content.u64(0).map(|number| BundledValue::Double(f64::from_bits(number))),
            _ => Err(Error::InvalidProgram),
        }
    }
}

impl<'a> BundledTensor<'a> {
    /// The element type; an error for a type that this runtime does not support.
    pub fn scalar_type(self) -> Result<ScalarType> {
        ScalarType::from_number(self.0.u8(0)?).ok_or(Error::NotSupported)
    }

    /// The size of each dimension.
    pub fn sizes(self) -> Result<Indices<'a>> {
        self.0.vector(1, 4).map(Indices::new)
    }

    /// The elements in memory order. The storage may be longer; the rest is ignored.
    pub fn data(self) -> Result<&'a [u8]> {
        let size = self.layout()?.nbytes()?;
        self.0.vector(2, 1)?.get(..size).ok_or(Error::InvalidProgram)
    }

    /// The dimensions in memory order.
    pub fn dim_order(self) -> Result<&'a [u8]> {
        self.0.vector(3, 1)
    }

    /// The layout: type, sizes and dim order.
    pub fn layout(self) -> Result<TensorLayout<'a>> {
        Ok(TensorLayout { scalar_type: self.scalar_type()?, sizes: self.sizes()?, dim_order: self.dim_order()? })
    }
}
