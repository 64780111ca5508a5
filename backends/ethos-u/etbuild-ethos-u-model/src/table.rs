//! Clamping and tables: the last step of an operation.

use crate::fault::Problem;
use crate::feature_map::{Element, OFM};
use crate::machine::Machine;
use crate::memory::Place;
use crate::npu::Npu;
use crate::registers::{Registers, bits, name};
use crate::rounding::{Rounding, Scale};

/// The first code of a table on U55 and U65, and the number of tables.
const FIRST_TABLE: u16 = 16;
const SLOTS: u16 = 8;
/// The bytes between tables on U55 and U65.
const SLOT: u64 = 256;
/// The fraction of an index in a table that is interpolated.
const FRACTION: u32 = 7;

/// How a table gives a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// An integer of 1, 2 or 4 bytes for each number of 8 bits.
    Each(Element),
    /// A base and a slope of 16 bits for each 128th number of 16 bits, with results of 16 or 32 bits.
    Between { has_fraction: bool },
}

/// A table.
#[derive(Clone, Copy, Debug)]
struct Table {
    address: u64,
    form: Form,
    /// The number of the first entry.
    lowest: i64,
}

/// What happens with a scaled result.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    range: (i64, i64),
    table: Option<Table>,
}

const fn integer(bytes: u64, is_signed: bool) -> Form {
    Form::Each(Element { bytes, is_signed })
}

/// The tables of U85 by code: the form, and whether the numbers are signed.
const FORMS: [(u16, Form, bool); 6] = [
    (1, integer(1, false), false),
    (4, integer(1, true), true),
    (5, integer(2, true), true),
    (7, integer(4, true), true),
    (8, Form::Between { has_fraction: false }, true),
    (9, Form::Between { has_fraction: true }, true),
];

impl Form {
    /// The bytes of a table.
    const fn bytes(self) -> u64 {
        match self {
            Self::Each(element) => 256 * element.bytes,
            Self::Between { .. } => 2048,
        }
    }
}

impl Activation {
    /// The activation that registers describe.
    pub fn of(npu: Npu, registers: &Registers) -> Result<Self, Problem> {
        let element = OFM.element(registers)?;
        if npu.is_u85() { Self::of_u85(registers, element) } else { Self::of_u55(npu, registers, element) }
    }

    fn of_u55(npu: Npu, registers: &Registers, element: Element) -> Result<Self, Problem> {
        let word = registers.parameter(name::ACTIVATION)?;
        let bounds = bounds(registers, element.is_signed)?;
        let clip = match bits(word, 12, 4) {
            0 => element,
            2 => Element { bytes: 1, is_signed: false },
            3 => Element { bytes: 1, is_signed: true },
            5 => Element { bytes: 2, is_signed: true },
            _ => return Err(Problem::Contradiction("the range of the activation is none of the NPU")),
        };
        let range = if clip.bytes > 2 { clip.range() } else { within(clip.range(), bounds) };
        let table = match bits(word, 0, 5) {
            0 => None,
            code @ FIRST_TABLE.. if code < FIRST_TABLE + SLOTS => {
                let form = if element.bytes == 2 { Form::Between { has_fraction: false } } else { Form::Each(element) };
                let lowest = if clip.is_signed { -128 } else { 0 };
                Some(Table { address: npu.tables() as u64 + SLOT * u64::from(code - FIRST_TABLE), form, lowest })
            }
            _ => return Err(Problem::Unsupported("tanh and sigmoid without a table")),
        };
        Ok(Self { range, table })
    }

    fn of_u85(registers: &Registers, element: Element) -> Result<Self, Problem> {
        let word = registers.parameter(name::ACTIVATION)?;
        let (code, slot) = (bits(word, 0, 5), bits(word, 5, 3));
        if code == 0 {
            let bounds = bounds(registers, element.is_signed)?;
            let range = if bits(word, 12, 1) == 0 { within(element.range(), bounds) } else { element.range() };
            return Ok(Self { range, table: None });
        }
        let form = FORMS.iter().find(|(known, ..)| *known == code);
        let (_, form, is_signed) = *form.ok_or(Problem::Unsupported("tanh and sigmoid without a table"))?;
        let index = Element { bytes: if matches!(form, Form::Each(_)) { 1 } else { 2 }, is_signed };
        let address = u64::from(slot) * form.bytes();
        let lowest = if is_signed { -128 } else { 0 };
        let range = within(index.range(), bounds(registers, is_signed)?);
        Ok(Self { range, table: Some(Table { address, form, lowest }) })
    }

    /// The result for a scaled number.
    pub fn apply(&self, machine: &Machine<'_, '_>, value: i64) -> Result<i64, Problem> {
        let (lowest, highest) = self.range;
        let value = value.min(highest).max(lowest);
        self.table.map_or(Ok(value), |table| table.look_up(machine, value))
    }
}

impl Table {
    fn look_up(self, machine: &Machine<'_, '_>, value: i64) -> Result<i64, Problem> {
        let entry = |index: i64, bytes: u64| {
            let address = self.address.wrapping_add(index.cast_unsigned().wrapping_mul(bytes));
            machine.memory.read(Place::Internal, address, bytes)
        };
        match self.form {
            Form::Each(element) => Ok(element.decode(entry(value.wrapping_sub(self.lowest), element.bytes)?)),
            Form::Between { has_fraction } => {
                let bytes = entry((value >> FRACTION) + 256, 4)?;
                let half = |start: usize| bytes.get(start..).and_then(|bytes| bytes.first_chunk());
                let number = |start| i64::from(half(start).map_or(0, |bytes| i16::from_le_bytes(*bytes)));
                let fraction = value & ((1 << FRACTION) - 1);
                let between = (number(0) << FRACTION) + number(2) * fraction;
                let rounded = Scale::new(1, FRACTION, Rounding::Natural).apply(between);
                Ok(if has_fraction { between } else { rounded })
            }
        }
    }
}

/// The bounds that registers state.
fn bounds(registers: &Registers, is_signed: bool) -> Result<(i64, i64), Problem> {
    let lowest = registers.signed(name::ACTIVATION_MIN)?;
    let highest = registers.parameter(name::ACTIVATION_MAX)?;
    Ok((lowest, if is_signed { i64::from(highest.cast_signed()) } else { i64::from(highest) }))
}

fn within(range: (i64, i64), bounds: (i64, i64)) -> (i64, i64) {
    (range.0.max(bounds.0), range.1.min(bounds.1))
}
