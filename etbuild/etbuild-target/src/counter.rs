//! The cycle counter of a processor.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::Spanned;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Rust;

/// The counter that firmware reads around an inference, a control and status register of RISC-V.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The number of the register, which counts cycles upwards, in 32 bits.
    #[schemars(range(max = 0xfff))]
    pub csr: u32,
    /// The registers that the firmware writes at start, in order, such as the one that enables the counter; default: none.
    #[serde(default)]
    pub setup: Vec<CsrValue>,
}

/// A control and status register with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsrValue {
    /// The number of the register.
    #[schemars(range(max = 0xfff))]
    pub csr: u32,
    /// The value.
    pub value: u32,
}

/// The largest number of a control and status register.
const LAST: u32 = 0xfff;

/// Refuses a counter of a processor without such registers, and numbers that no register has.
pub fn check(rust: &Rust, counter: Option<Spanned<Counter>>) -> Result<Option<Counter>, Diagnostic> {
    let Some(counter) = counter else { return Ok(None) };
    let mistake = |code, message: String, help: &str| {
        Err(Diagnostic::error(code, message).at((*counter.span).clone()).help(help))
    };
    if !rust.triple.as_str().starts_with("riscv32") {
        let message = "`counter:` is a register of 32-bit RISC-V; the system timer counts on Cortex-M".to_owned();
        return mistake(Code::TargetInconsistent, message, "remove `counter:`");
    }
    let registers = counter.value.setup.iter().map(|step| step.csr).chain([counter.value.csr]);
    match registers.max() {
        Some(csr) if csr > LAST => {
            let message = format!("{csr:#x} is no control and status register");
            mistake(Code::BadValue, message, "write a number up to 0xfff")
        }
        _ => Ok(Some(counter.value)),
    }
}
