//! The text of a program, for golden tests and for people: an instruction per line, with operands, types, shapes and fused parts.
//!
//! Shapes of images are `[batch, height, width, channels]`; a name is `input0`, `output0`, `constant3`, `weights4` or, in the scratch
//! arena, `%5`.

mod gemm;
mod rows;

use std::fmt::{Display, Write as _};

use et_cpu::{Instruction, Place, QParams, SlotNumber};
use et_kernels::elementwise::Operation;

use crate::memory::{lay_out, lives};
use crate::program::{Program, Storage};

/// An instruction as text.
trait Describe {
    /// The output of the instruction.
    fn output(&self) -> Place;

    /// The operator, operands and fused parts.
    fn words(&self, names: &Names<'_>) -> String;
}

/// Dispatches to the text of each kind of instruction.
macro_rules! describe {
    ($($name:ident,)*) => {
        fn described(instruction: &Instruction) -> &dyn Describe {
            match instruction { $(Instruction::$name(fields) => fields,)* }
        }
    };
}

describe! {
    Conv2d, Depthwise, Pool, Mean, Copy, Softmax, Normalize, Attention, BatchMatmul, Gather, Elementwise, QuantizeRows,
    DequantizeRows, Rotate, AttendCache, GatherColumns, FusedMlp,
}

/// The text of a program, with the size of the scratch arena.
pub fn text(program: &Program<'_>) -> String {
    let names = Names { program };
    let mut text = String::new();
    let instructions: Vec<Instruction> = program.instructions.iter().copied().flatten().collect();
    for instruction in &instructions {
        let described = described(instruction);
        _ = writeln!(text, "{} = {}", names.place(described.output()), described.words(&names));
    }
    let lives = lives(program.buffers.len(), &instructions);
    _ = writeln!(text, "arena of {} bytes", lay_out(&program.buffers, &lives).size);
    text
}

/// The names of operands.
struct Names<'p> {
    program: &'p Program<'p>,
}

impl Names<'_> {
    fn place(&self, place: Place) -> String {
        match place.offset {
            0 => self.slot(place.slot),
            offset => format!("{}+{offset}", self.slot(place.slot)),
        }
    }

    fn slot(&self, slot: SlotNumber) -> String {
        match self.program.memory(slot).map(|memory| &memory.storage) {
            Some(Storage::Input(position)) => format!("input{position}"),
            Some(Storage::Output(position)) => format!("output{position}"),
            Some(Storage::Scratch) => format!("%{}", slot.0),
            Some(Storage::Packed(_)) => format!("weights{}", slot.0),
            Some(Storage::Model(_) | Storage::Made(_)) => format!("constant{}", slot.0),
            None => "none".to_owned(),
        }
    }

    /// An operand with its type and shape.
    fn tensor(&self, place: Place, qparams: QParams, shape: &[u32]) -> String {
        format!("{} {}", self.place(place), typed(qparams, shape))
    }
}

/// A type and shape such as `f32[1, 4]` or `int8[1, 4] * 0.5 - 3`, the elements minus a zero point, times the scale.
fn typed(qparams: QParams, shape: &[u32]) -> String {
    match qparams.is_int8() {
        true => format!("int8{shape:?} (scale {}, zero {})", qparams.scale, qparams.zero_point),
        false => format!("f32{shape:?}"),
    }
}

/// `name value`, or nothing for a usual value.
fn unless<T: PartialEq + Display>(name: &str, value: T, usual: T) -> String {
    if value == usual { String::new() } else { format!(", {name} {value}") }
}

/// The name of an element-wise operation in small letters, and the number of operands. A copy in a chain converts between types.
fn operation(number: u32) -> (String, usize) {
    let operation = u8::try_from(number).ok().and_then(Operation::from_number);
    let named = |operation: Operation| match operation {
        Operation::Copy => ("convert".to_owned(), 1),
        other => (format!("{other:?}").to_lowercase(), other.operand_count()),
    };
    operation.map_or_else(|| ("unknown".to_owned(), 0), named)
}
