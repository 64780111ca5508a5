//! Partitions of models: graphs, compiled programs, execution, and the executed instructions.
#![allow(dead_code, reason = "each test file uses a part")]

use std::cell::RefCell;
use std::collections::BTreeMap;

use et_core::ScalarType;
use et_cpu::{Instruction, Memory};
use et_module::Engine;
use etbuild_backend::TargetFacts;
use etbuild_conformance::{Candidate, compile, load, run};
use etbuild_cpu::BACKEND;
use etbuild_ir::{
    Argument, ConstantData, Graph, LoweredProgram, Node, OperatorName, Program, TensorSpec, ValueId, ValueKind,
};

thread_local! {
    /// The executed instructions.
    pub static TOLD: RefCell<Vec<Instruction>> = const { RefCell::new(Vec::new()) };
}

fn told(instruction: &Instruction, _memory: &Memory<'_, '_>) {
    TOLD.with_borrow_mut(|told| told.push(*instruction));
}

static ENGINES: &[Engine] = &[Engine {
    id: et_cpu::ID,
    make: |host| Box::new(et_cpu::observed_delegate(host.workers, told)),
    problem: || None,
}];

/// The minimum instruction set, present on every test machine.
pub fn this_machine() -> TargetFacts {
    let feature = if cfg!(target_arch = "x86_64") { "avx2" } else { "neon" };
    TargetFacts {
        architecture: std::env::consts::ARCH.to_owned(),
        features: vec![feature.to_owned()],
        hosted: true,
        ..TargetFacts::default()
    }
}

pub fn candidate(target: &TargetFacts, threads: usize) -> Candidate<'_> {
    Candidate { backend: &BACKEND, engines: ENGINES, target, threads, tolerance: 0.0 }
}

/// Numbers between -1 and 1.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A graph under construction.
#[derive(Default)]
pub struct Made(pub Graph);

impl Made {
    pub fn constant(&mut self, sizes: &[usize], numbers: &[f32]) -> Argument {
        let name = format!("constant_{}", self.0.values.len());
        let kind = ValueKind::Constant { qualified_name: name.clone(), data: ConstantData::new(bytes(numbers)) };
        Argument::Value(self.0.add_value(&name, spec(sizes), kind))
    }

    /// An input of the program.
    pub fn input(&mut self, name: &str, sizes: &[usize]) -> ValueId {
        let input = self.0.add_value(name, spec(sizes), ValueKind::Input);
        self.0.inputs.push(input);
        input
    }

    /// A convolution of stride 1 with the output sizes, the padding and the groups.
    pub fn convolution(
        &mut self,
        [input, weights, bias]: [Argument; 3],
        sizes: [usize; 4],
        padding: i64,
        groups: i64,
    ) -> ValueId {
        let pair = |number| Argument::Ints(vec![number; 2]);
        let rest = [pair(1), pair(padding), pair(1), Argument::Bool(false), pair(0), Argument::Int(groups)];
        let arguments = [input, weights, bias].into_iter().chain(rest).collect();
        self.node("aten.convolution.default", &sizes, arguments)
    }

    /// The program with this value as the only output.
    pub fn program(mut self, output: ValueId) -> LoweredProgram {
        self.0.outputs.push(output);
        LoweredProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), self.0)]) }).unwrap()
    }

    pub fn node(&mut self, operator: &str, sizes: &[usize], arguments: Vec<Argument>) -> ValueId {
        let name = format!("node_{}", self.0.values.len());
        let output = self.0.add_value(&name, spec(sizes), ValueKind::Computed);
        let operator = OperatorName::parse(operator).unwrap();
        self.0.nodes.push(Node { operator, arguments, outputs: vec![output] });
        output
    }
}

pub fn spec(sizes: &[usize]) -> TensorSpec {
    let sizes: Vec<i32> = sizes.iter().map(|size| *size as i32).collect();
    TensorSpec::contiguous(ScalarType::Float, sizes)
}

/// The first output of a program on a thread, with the same bits on other numbers of threads.
pub fn computed_alike(program: impl Fn() -> LoweredProgram, inputs: &[Vec<f32>], threads: &[usize]) -> Vec<f64> {
    let alone = computed(program(), inputs, 1);
    for threads in threads {
        assert_eq!(alone, computed(program(), inputs, *threads), "{threads} threads");
    }
    alone.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

/// The bytes of a program's first output tensor, computed on `threads` threads.
pub fn computed(program: LoweredProgram, inputs: &[Vec<f32>], threads: usize) -> Vec<u8> {
    let target = this_machine();
    let candidate = candidate(&target, threads);
    let compiled = compile(program, &candidate).unwrap();
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| bytes(input)).collect();
    run(&mut load(&compiled.file, &candidate).unwrap(), &inputs).unwrap().remove(0).bytes
}
