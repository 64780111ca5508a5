//! A program of two operators, and the facts that a project for it is made from.

use et_core::{Dtypes, ScalarType};
use etbuild_link::*;

/// `tiny.pte`: `relu(x + offset)` on a tensor of four numbers, written by ExecuTorch.
pub const PROGRAM: &[u8] = include_bytes!("../data/tiny.pte");
/// The inputs of eight cases.
pub const INPUTS: &[u8] = include_bytes!("../data/tiny.inputs.bin");
/// What PyTorch computes from them.
pub const OUTPUTS: &[u8] = include_bytes!("../data/tiny.outputs.bin");
/// How many cases there are.
pub const CASES: usize = 8;

/// The operators that the program calls.
pub fn kernels() -> KernelTable {
    let float = Dtypes::of(&[ScalarType::Float]);
    let wanted = |operator: &str| KernelUse { operator: operator.to_owned(), dtypes: float };
    select(&[wanted("aten::add.out"), wanted("aten::relu.out")], et_ops::OPERATORS).unwrap()
}

/// The method of the program.
pub fn method() -> MethodFacts {
    MethodFacts {
        name: "forward".to_owned(),
        inputs: vec!["x".to_owned()],
        input_bytes: vec![16],
        output_bytes: vec![16],
        arenas: vec![32],
        sizes: 0,
        values: 5,
    }
}

/// The program on a board.
pub fn firmware(memory: MemoryFacts, console: Console) -> ProjectFacts {
    let verify = VerifyData { cases: CASES, inputs: INPUTS.to_vec(), outputs: OUTPUTS.to_vec() };
    ProjectFacts {
        template: "firmware".to_owned(),
        name: "tiny".to_owned(),
        stamp: "etbuild test \"tiny\"".to_owned(),
        kernels: kernels(),
        method: method(),
        program: Program::Embedded(PROGRAM.to_vec()),
        board: Some(BoardFacts { memory, console, verify }),
    }
}

/// The memory of QEMU's `mps2-an505`.
pub fn mps2_memory() -> MemoryFacts {
    let flash = Region { name: "flash".to_owned(), origin: 0x1000_0000, size: 4 << 20 };
    let arena = Region { name: "sram".to_owned(), origin: 0x3800_0000, size: 4 << 20 };
    MemoryFacts { code: flash.clone(), constants: flash, arena, stack: 16 << 10, boot_block: None }
}

/// How Rust compiles for `mps2-an505`.
pub fn mps2_target() -> CompileTarget {
    CompileTarget {
        triple: "thumbv8m.main-none-eabi".to_owned(),
        cpu: Some("cortex-m33".to_owned()),
        features: Vec::new(),
        linker: Linker::RustLld,
        crt_static: false,
    }
}
