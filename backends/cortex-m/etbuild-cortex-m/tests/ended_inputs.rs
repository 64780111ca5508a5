//! Scratch in the memory of inputs that nothing reads after the call.

mod net;

use etbuild_conformance::{compile, load, run};
use etbuild_ir::{DelegateCall, LoweredProgram};
use net::{Form, Net, board, candidate, keyword_spotting, random_inputs, separable};

/// The scratch of the only call of a program, and the first output.
fn computed(program: LoweredProgram, row: &str) -> (usize, Vec<u8>) {
    let (inputs, target) = (random_inputs(&program, 1), board(row));
    let candidate = candidate(&target);
    let compiled = compile(program, &candidate).unwrap();
    let graph = &compiled.partitioned.program.program().methods["forward"];
    let calls: Vec<DelegateCall<'_>> = graph.nodes.iter().filter_map(DelegateCall::of).collect();
    assert_eq!(calls.len(), 1, "one call computes the network");
    let last = graph.value(*calls[0].outputs.last().unwrap());
    let scratch = if last.name.contains("scratch") { last.spec.nbytes() } else { 0 };
    let mut method = load(&compiled.file, &candidate).unwrap();
    let first = run(&mut method, &inputs).unwrap().swap_remove(0).bytes;
    assert_eq!(run(&mut method, &inputs).unwrap()[0].bytes, first, "a second run");
    (scratch, first)
}

/// The program with its input as another result, so that the input is read after the call.
fn with_input_returned(program: LoweredProgram) -> LoweredProgram {
    let mut program = program.into_program();
    let graph = program.methods.get_mut("forward").unwrap();
    graph.outputs.push(graph.inputs[0]);
    LoweredProgram::verify(program).unwrap()
}

/// Two linear layers of a row of numbers: quantization keeps the order.
fn linear() -> LoweredProgram {
    let mut net = Net::new(7);
    let input = net.input(&[1, 196]);
    let input = net.quantize(input, 1.0 / 120.0, 3);
    let hidden = net.linear(input, 24);
    let hidden = net.quantize(hidden, 1.0 / 40.0, -5);
    let output = net.linear(hidden, 10);
    net.program(&[output])
}

#[test]
fn inputs_that_end_with_the_call_hold_scratch() {
    for row in ["dsp", "thumb2", "mve"] {
        for make in [linear, || keyword_spotting(Form::Int8), || separable(Form::Int8), || separable(Form::Int16)] {
            let (beside, expected) = computed(with_input_returned(make()), row);
            let (within, found) = computed(make(), row);
            assert_eq!(found, expected, "{row}");
            assert!(within < beside, "{row}: {within} bytes, and {beside} where the input is read later");
        }
    }
}

/// The integers of the first layer lie where the numbers were, as everything else does.
#[test]
fn quantization_in_order_is_in_place() {
    assert_eq!(computed(linear(), "dsp").0, 0);
}
