//! Weights whose dimensions are in another order in memory, which archives of PyTorch do not have.

mod common;

use common::{CPU_DRIVER, ENGINES, target};
use etbuild_backend::GpuFacts;
use etbuild_conformance::{Candidate, compile, load, run};
use etbuild_gpu::BACKEND;
use etbuild_ir::LoweredProgram;

const GPU: GpuFacts = GpuFacts { subgroup: 0, float64: false, ..CPU_DRIVER };

// Output channels, input channels, and the side of the kernel.
const OUTPUTS: usize = 8;
const INPUTS: usize = 4;
const SIDE: usize = 3;

/// The weight at an output channel, an input channel, a row and a column.
fn weight([output, input, row, column]: [usize; 4]) -> f32 {
    ((output * 7 + input * 5 + row * 3 + column) % 11) as f32 - 5.0
}

/// The sums of the weights of each output channel: the convolution of ones.
fn computed(order: &str, memory: impl Iterator<Item = [usize; 4]>) -> Vec<f32> {
    let weights: Vec<String> = memory.map(|at| weight(at).to_string()).collect();
    let text = format!(
        "etbuild-ir 1 lowered\nmethod forward\n  input %x: float32[1, {INPUTS}, {SIDE}, {SIDE}]\n  \
         constant %w: float32[{OUTPUTS}, {INPUTS}, {SIDE}, {SIDE}]{order} = \"w\" [{}]\n  \
         %y: float32[1, {OUTPUTS}, 1, 1] = \
         aten.convolution.default(%x, %w, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)\n  return %y\n",
        weights.join(", ")
    );
    let program = LoweredProgram::verify(etbuild_golden::parse(&text).unwrap()).unwrap();
    let target = target(vec![GPU]);
    let candidate = Candidate { backend: &BACKEND, engines: ENGINES, target: &target, threads: 1, tolerance: 0.0 };
    let compiled = compile(program, &candidate).unwrap();
    let ones = 1.0_f32.to_le_bytes().repeat(INPUTS * SIDE * SIDE);
    let output = run(&mut load(&compiled.file, &candidate).unwrap(), &[ones]).unwrap().remove(0);
    output.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// All indices, the last one innermost.
fn indices<const N: usize>(sizes: [usize; N]) -> impl Iterator<Item = [usize; N]> {
    (0..sizes.iter().product()).map(move |number: usize| {
        let mut rest = number;
        let mut at = [0; N];
        for (index, size) in at.iter_mut().zip(sizes).rev() {
            (*index, rest) = (rest % size, rest / size);
        }
        at
    })
}

#[test]
fn the_order_of_dimensions_in_memory_makes_no_difference() {
    let sums = |output| indices([INPUTS, SIDE, SIDE]).map(|[i, y, x]| weight([output, i, y, x])).sum::<f32>();
    let expected: Vec<f32> = (0..OUTPUTS).map(sums).collect();
    assert_eq!(computed("", indices([OUTPUTS, INPUTS, SIDE, SIDE])), expected);
    let channels_last = indices([OUTPUTS, SIDE, SIDE, INPUTS]).map(|[o, y, x, i]| [o, i, y, x]);
    assert_eq!(computed("{0, 2, 3, 1}", channels_last), expected);
    assert_eq!(et_gpu::validation_messages(), Vec::<String>::new());
}
