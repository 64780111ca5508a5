//! The operations, a file each, by the code of their command.

mod convolution;
mod dma;
mod elementwise;
mod mode;
mod pool;

use crate::fault::Problem;
use crate::machine::Machine;

/// Executes an operation with the parameter of its command.
pub type Execute = fn(&mut Machine<'_, '_>, u16) -> Result<(), Problem>;

/// The operations that compute or copy.
pub const OPERATIONS: &[(u16, Execute)] = &[
    (0x002, convolution::convolution),
    (0x003, convolution::depthwise),
    (0x005, pool::pool),
    (0x006, elementwise::elementwise),
    (0x010, dma::copy),
];
