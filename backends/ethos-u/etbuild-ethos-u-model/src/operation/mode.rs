//! The operations on elements, by number.

use crate::rounding::{Rounding, Scale};

/// The scaled operands, and the rounding of shifts.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// The first operand.
    pub left: i64,
    /// The second operand.
    pub right: i64,
    /// How shifts round.
    pub rounding: Rounding,
}

/// The way in which a mode treats its operands or rounding differently from the other modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// Nothing.
    Nothing,
    /// A scale for negative numbers.
    Slope,
}

/// An operation on elements.
#[derive(Debug)]
pub struct Mode {
    /// The number in the command.
    pub number: u16,
    /// Whether only U85 has the operation.
    pub is_u85: bool,
    /// Whether there are two operands.
    pub is_binary: bool,
    /// Whether the operands have scales on U55 and U65.
    pub is_sum: bool,
    /// The difference of the mode from the others.
    pub own: Own,
    /// The result before the scale of the output.
    pub compute: fn(Operands) -> i64,
}

const fn binary(number: u16, compute: fn(Operands) -> i64) -> Mode {
    Mode { number, is_u85: false, is_binary: true, is_sum: false, own: Own::Nothing, compute }
}

const fn unary(number: u16, compute: fn(Operands) -> i64) -> Mode {
    Mode { is_binary: false, ..binary(number, compute) }
}

const fn sum(number: u16, compute: fn(Operands) -> i64) -> Mode {
    Mode { is_sum: true, ..binary(number, compute) }
}

const fn of_u85(mode: Mode) -> Mode {
    Mode { is_u85: true, ..mode }
}

/// All operations but division, which no graph of etbuild has.
pub const MODES: &[Mode] = &[
    binary(0, |operands| operands.left.wrapping_mul(operands.right)),
    sum(1, |operands| operands.left.wrapping_add(operands.right)),
    sum(2, |operands| operands.left.wrapping_sub(operands.right)),
    binary(3, |operands| operands.left.min(operands.right)),
    binary(4, |operands| operands.left.max(operands.right)),
    Mode { own: Own::Slope, ..unary(5, |operands| operands.left) },
    unary(6, |operands| operands.left.wrapping_abs()),
    unary(7, |operands| i64::from((operands.left as i32).leading_zeros())),
    binary(8, |operands| Scale::new(1, distance(operands), operands.rounding).apply(operands.left)),
    binary(9, |operands| i64::from((operands.left as i32).wrapping_shl(distance(operands)))),
    of_u85(binary(10, |operands| i64::from((operands.left as u32).wrapping_shr(distance(operands))))),
    of_u85(binary(16, |operands| i64::from(operands.left == operands.right))),
    of_u85(binary(17, |operands| i64::from(operands.left != operands.right))),
    of_u85(binary(18, |operands| i64::from(operands.left >= operands.right))),
    of_u85(binary(19, |operands| i64::from(operands.left > operands.right))),
    of_u85(binary(33, |operands| operands.left & operands.right)),
    of_u85(binary(34, |operands| operands.left | operands.right)),
    of_u85(binary(35, |operands| operands.left ^ operands.right)),
    of_u85(unary(36, |operands| !operands.left)),
    of_u85(binary(42, |operands| operands.left & !operands.right)),
];

/// The distance of a shift of 32 bits.
const fn distance(operands: Operands) -> u32 {
    (operands.right & 31) as u32
}
