//! The delegate with a model of the NPU in its place. When the driver starts the model, it executes the command stream that the registers name, on
//! the memory whose addresses the registers have.
#![allow(unsafe_code, reason = "the model reads and writes the memory whose address the driver hands over")]

mod tools;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use et_ethos_u::driver::{Job, command, register, run, status};
use et_ethos_u::{Blob, Engine, Npu};
use et_module::Engine as Registered;
use et_runtime::Listener;
use etbuild_backend::{Backend, TargetFacts};
use etbuild_conformance::{Candidate, compile, load, run as run_module};
use etbuild_ethos_u::{Array, BACKEND, lower_to_tosa};
use etbuild_ethos_u_model::{Memory, execute};
use etbuild_ir::{LoweredProgram, Program};

/// The bytes of memory behind the addresses in the registers.
#[derive(Clone, Copy)]
struct Sizes {
    weights: usize,
    scratch: usize,
}

#[derive(Default)]
struct Model {
    registers: RefCell<BTreeMap<usize, u32>>,
    sizes: Cell<Option<Sizes>>,
    executed: Cell<usize>,
    /// Bits of the status that the model reports at the end.
    faults: Cell<u32>,
    waits: Cell<u32>,
    /// Whether the model never ends.
    hangs: Cell<bool>,
    /// Every write in order.
    writes: RefCell<Vec<(usize, u32)>>,
}

thread_local! {
    static MODEL: Model = Model::default();
}

/// The model of the thread: delegates are made without arguments.
struct OfThread;

static NPU: OfThread = OfThread;

impl Npu for OfThread {
    fn read(&self, offset: usize) -> u32 {
        MODEL.with(|model| model.registers.borrow().get(&offset).copied().unwrap_or(0))
    }

    fn write(&self, offset: usize, value: u32) {
        MODEL.with(|model| model.write(offset, value));
    }

    fn wait(&self, turn: u32) -> bool {
        MODEL.with(|model| {
            model.waits.set(model.waits.get() + 1);
            if model.hangs.get() {
                return turn < 100;
            }
            // The interrupt comes after the driver has begun to wait.
            let state = status::INTERRUPT | status::END | model.faults.get();
            model.registers.borrow_mut().insert(register::STATUS, state);
            true
        })
    }
}

impl Model {
    fn write(&self, offset: usize, value: u32) {
        self.writes.borrow_mut().push((offset, value));
        self.registers.borrow_mut().insert(offset, value);
        if offset == register::RESET {
            let resetting = self.registers.borrow().get(&register::STATUS).copied().unwrap_or(0) & status::RESETTING;
            self.registers.borrow_mut().retain(|offset, _| *offset == register::CONFIG);
            self.registers.borrow_mut().extend([(register::PROTECTION, value), (register::STATUS, resetting)]);
        }
        if offset == register::COMMAND && value & command::RUN != 0 {
            if let Some(sizes) = self.sizes.get() {
                self.execute(sizes);
            }
            self.registers.borrow_mut().insert(register::STATUS, status::RUNNING);
        }
    }

    fn address(&self, register: usize) -> usize {
        let registers = self.registers.borrow();
        let [low, high] = [register, register + 4].map(|offset| u64::from(registers[&offset]));
        usize::try_from(low | high << 32).unwrap()
    }

    fn execute(&self, sizes: Sizes) {
        let memory = |register| std::ptr::with_exposed_provenance_mut::<u8>(self.address(register));
        let commands = self.registers.borrow()[&register::QUEUE_SIZE] as usize;
        // SAFETY: the driver handed over the command stream and the weights of the blob, and scratch memory of the blob's size.
        let (commands, weights, scratch) = unsafe {
            (
                std::slice::from_raw_parts(memory(register::QUEUE), commands),
                std::slice::from_raw_parts(memory(register::BASES), sizes.weights),
                std::slice::from_raw_parts_mut(memory(register::BASES + 8), sizes.scratch),
            )
        };
        assert_eq!(self.address(register::BASES + 8), self.address(register::BASES + 16));
        let mut memory = Memory::of(weights, scratch);
        match execute(commands, self.registers.borrow()[&register::CONFIG], &mut memory) {
            Ok(executed) => self.executed.set(self.executed.get() + executed.operations),
            Err(_) => self.faults.set(status::COMMAND_FAULT),
        }
    }
}

static ENGINES: &[Registered] =
    &[Registered { id: et_ethos_u::ID, make: |_| Box::new(Engine::with(&NPU)), problem: || None }];

fn target() -> TargetFacts {
    tools::target("u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram")
}

/// Sets the model up for a partition, and returns its inputs and the bytes of its outputs by the interpreter.
fn prepare(graph: &etbuild_ir::Graph) -> (Vec<Array>, Vec<Vec<u8>>) {
    let lowered = lower_to_tosa(graph).unwrap();
    let bytes = BACKEND.lower(graph, &target()).unwrap().bytes;
    let blob = Blob::read(&bytes).unwrap();
    MODEL.with(|model| {
        *model.registers.borrow_mut() = BTreeMap::from([(register::CONFIG, blob.header().config)]);
        let (weights, scratch) = (blob.weights().len(), blob.header().scratch as usize);
        model.sizes.set(Some(Sizes { weights, scratch }));
        model.faults.set(0);
        model.hangs.set(false);
    });
    let inputs = tools::inputs(&lowered.graph, 5);
    let results = lowered.graph.evaluate(&inputs).unwrap();
    let outputs = lowered.outputs.iter().map(|output| {
        let result = &results[output.position];
        let Some(qparams) = output.dequantized else { return result.bytes() };
        let number = |integer: &i64| (*integer as i32 - qparams.zero) as f32 * qparams.scale as f32;
        result.numbers.iter().flat_map(|integer| number(integer).to_le_bytes()).collect()
    });
    (inputs, outputs.collect())
}

#[test]
fn command_streams_run_through_program_file_delegate_and_driver() {
    let Some(_) = tools::folder() else { return };
    let target = target();
    for (name, graph) in tools::programs() {
        let (inputs, expected) = prepare(&graph);
        let program =
            LoweredProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) }).unwrap();
        let candidate = Candidate { backend: &BACKEND, engines: ENGINES, target: &target, threads: 1, tolerance: 0.0 };
        let compiled = compile(program, &candidate).unwrap();
        let bytes: Vec<Vec<u8>> = inputs.iter().map(Array::bytes).collect();
        let before = MODEL.with(|model| model.executed.get());
        let found = run_module(&mut load(&compiled.file, &candidate).unwrap(), &bytes).unwrap();
        let found: Vec<Vec<u8>> = found.into_iter().map(|tensor| tensor.bytes).collect();
        assert_eq!(found, expected, "{name}");
        assert!(MODEL.with(|model| model.executed.get()) > before, "{name}: the NPU did nothing");
    }
}

fn job() -> Job {
    Job { commands: (0x1000, 64), bases: [0x2000, 0x3000, 0x3000], regions: 0x5543, config: 0x1807 }
}

fn model(config: u32, faults: u32) {
    MODEL.with(|model| {
        *model.registers.borrow_mut() = BTreeMap::from([(register::CONFIG, config)]);
        model.sizes.set(None);
        model.faults.set(faults);
        model.hangs.set(false);
        model.writes.borrow_mut().clear();
    });
}

#[test]
fn the_driver_hands_over_queue_and_regions() {
    model(0x1807, 0);
    assert_eq!(run(&NPU, &job(), Listener::SILENT), Ok(()));
    MODEL.with(|model| {
        let address = |register| model.address(register);
        assert_eq!((address(register::QUEUE), NPU.read(register::QUEUE_SIZE)), (0x1000, 64));
        assert_eq!([0, 8, 16].map(|region| address(register::BASES + region)), [0x2000, 0x3000, 0x3000]);
        assert_eq!(NPU.read(register::REGIONS), 0x5543);
        assert_ne!(NPU.read(register::COMMAND) & command::CLEAR_INTERRUPT, 0);
    });
}

/// The writes of a run, but for the last, which clears the interrupt.
fn writes(config: u32) -> Vec<(usize, u32)> {
    model(config, 0);
    assert_eq!(run(&NPU, &Job { config, ..job() }, Listener::SILENT), Ok(()));
    let mut writes = MODEL.with(|model| model.writes.borrow().clone());
    assert_eq!(writes.pop(), Some((0x08, 0b1110)));
    writes
}

#[test]
fn registers_are_written_in_order_between_reset_and_start() {
    let addresses = [(0x10, 0x1000), (0x14, 0), (0x20, 64), (0x80, 0x2000), (0x84, 0), (0x88, 0x3000), (0x8c, 0)];
    let rest = [(0x1c, 3), (0x3c, 0x5543)].into_iter().chain(addresses).chain([(0x90, 0x3000), (0x94, 0), (0x08, 1)]);
    let rest: Vec<_> = rest.collect();
    let limits = [0x40, 0x44, 0x48, 0x4c].map(|offset| (offset, 0x0f1f_0000));
    assert_eq!(writes(0x1807), [&[(0x0c, 1)], &limits[..], &rest].concat());
    let memories = [(0x40, 0), (0x44, 0), (0x48, 4), (0x4c, 4), (0x50, 0x0002_1f3f), (0x54, 0x0002_1f3f)];
    assert_eq!(writes(0x2000_0008), [&[(0x0c, 1)], &memories[..], &rest].concat());
}

#[test]
fn a_hung_npu_is_given_up_and_reset() {
    model(0x1807, 0);
    MODEL.with(|model| model.hangs.set(true));
    assert_eq!(run(&NPU, &job(), Listener::SILENT), Err(et_core::Error::AccessFailed));
    assert_eq!(MODEL.with(|model| model.writes.borrow().last().copied()), Some((register::RESET, 1)));
}

#[test]
fn faults_and_other_npus_are_errors() {
    for fault in
        [status::BUS_FAULT, status::COMMAND_FAULT, status::WEIGHT_FAULT, status::MEMORY_FAULT, status::BRANCH_FAULT]
    {
        model(0x1807, fault);
        assert_eq!(run(&NPU, &job(), Listener::SILENT), Err(et_core::Error::AccessFailed));
    }
    model(0x2000_0008, 0);
    assert_eq!(run(&NPU, &job(), Listener::SILENT), Err(et_core::Error::DelegateInvalidCompatibility));
    model(0x1807, 0);
    MODEL.with(|model| model.registers.borrow_mut().insert(register::STATUS, status::RESETTING));
    assert_eq!(run(&NPU, &job(), Listener::SILENT), Err(et_core::Error::AccessFailed), "the NPU does not reset");
}
