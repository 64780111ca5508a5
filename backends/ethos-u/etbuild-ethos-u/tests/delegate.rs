//! The delegate with a model of the NPU's registers in the place of an NPU: when the driver starts the model, the interpreter computes the
//! partition on the scratch memory. The command stream itself is not executed.
#![allow(unsafe_code, reason = "the model reads and writes the memory whose address the driver hands over")]

mod tools;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use et_ethos_u::driver::{Job, command, register, run, status};
use et_ethos_u::{Blob, Engine, Npu, Port};
use et_module::Engine as Registered;
use et_runtime::Listener;
use etbuild_backend::{Backend, EthosU, NpuFacts, TargetFacts};
use etbuild_conformance::{Candidate, compile, load, run as run_module};
use etbuild_ethos_u::{Array, BACKEND, Graph, Kind, Series, lower_to_tosa};
use etbuild_ir::{LoweredProgram, Program};

/// The computation of a started model, with the inputs and outputs in the scratch memory.
struct Work {
    graph: Graph,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    positions: Vec<usize>,
}

#[derive(Default)]
struct Model {
    registers: RefCell<BTreeMap<usize, u32>>,
    work: RefCell<Option<Work>>,
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
            let base = self.address(register::BASES + 8);
            self.work.borrow().iter().for_each(|work| work.compute(base));
            self.registers.borrow_mut().insert(register::STATUS, status::RUNNING);
        }
    }

    fn address(&self, register: usize) -> usize {
        let registers = self.registers.borrow();
        let [low, high] = [register, register + 4].map(|offset| u64::from(registers[&offset]));
        usize::try_from(low | high << 32).unwrap()
    }
}

impl Work {
    fn compute(&self, base: usize) {
        let memory = |port: &Port| std::ptr::with_exposed_provenance_mut::<u8>(base + port.offset as usize);
        let read = |(port, id): (&Port, &etbuild_ethos_u::TensorId)| {
            // SAFETY: the driver handed over scratch memory of the blob's size, and the blob's ports lie inside.
            let bytes = unsafe { std::slice::from_raw_parts(memory(port), port.count as usize) };
            Array::of_bytes(Kind::Int8, &self.graph.get(*id).sizes, bytes).unwrap()
        };
        let inputs: Vec<Array> = self.inputs.iter().zip(&self.graph.inputs).map(read).collect();
        let results = self.graph.evaluate(&inputs).unwrap();
        for (port, position) in self.outputs.iter().zip(&self.positions) {
            let bytes = results[*position].bytes();
            // SAFETY: as above.
            unsafe { std::slice::from_raw_parts_mut(memory(port), port.count as usize) }.copy_from_slice(&bytes);
        }
    }
}

static ENGINES: &[Registered] =
    &[Registered { id: et_ethos_u::ID, make: |_| Box::new(Engine::with(&NPU)), problem: || None }];

fn target() -> TargetFacts {
    let npu = EthosU {
        accelerator: "u55-128".to_owned(),
        system_config: "Ethos_U55_High_End_Embedded".to_owned(),
        memory_mode: "Shared_Sram".to_owned(),
        registers: 0x5810_2000,
    };
    TargetFacts { architecture: "thumb".to_owned(), npu: Some(NpuFacts::EthosU(npu)), ..TargetFacts::default() }
}

fn prepare(graph: &etbuild_ir::Graph) -> Vec<Array> {
    let lowered = lower_to_tosa(graph, Series::U85).unwrap();
    let bytes = BACKEND.lower(graph, &target()).unwrap().bytes;
    let blob = Blob::read(&bytes).unwrap();
    let inputs = tools::inputs(&lowered.graph, 5);
    let work = Work {
        graph: lowered.graph,
        inputs: blob.inputs().collect(),
        outputs: blob.outputs().collect(),
        positions: lowered.outputs.iter().map(|output| output.position).collect(),
    };
    MODEL.with(|model| {
        *model.registers.borrow_mut() = BTreeMap::from([(register::CONFIG, blob.header().config)]);
        *model.work.borrow_mut() = Some(work);
        model.faults.set(0);
        model.hangs.set(false);
    });
    inputs
}

#[test]
fn a_program_file_runs_through_driver_and_delegate() {
    let Some(_) = tools::folder() else { return };
    for (name, graph) in
        tools::programs().into_iter().filter(|(name, _)| ["residual", "two_outputs", "sum"].contains(&name.as_str()))
    {
        let inputs = prepare(&graph);
        let named: BTreeMap<_, _> = graph
            .inputs
            .iter()
            .zip(&inputs)
            .map(|(id, input)| {
                let value = graph.value(*id);
                let tensor = et_ops::call::OwnedTensor {
                    scalar_type: value.spec.scalar_type,
                    sizes: value.spec.sizes.clone(),
                    bytes: input.bytes(),
                };
                (value.name.clone(), tensor)
            })
            .collect();
        let expected = etbuild_ir::interpret(&graph, &named).unwrap();
        let program =
            LoweredProgram::verify(Program { methods: BTreeMap::from([("forward".to_owned(), graph)]) }).unwrap();
        let target = target();
        let candidate = Candidate { backend: &BACKEND, engines: ENGINES, target: &target, threads: 1, tolerance: 0.0 };
        let compiled = compile(program, &candidate).unwrap();
        let bytes: Vec<Vec<u8>> = inputs.iter().map(Array::bytes).collect();
        let found = run_module(&mut load(&compiled.file, &candidate).unwrap(), &bytes).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((found.scalar_type, found.bytes.len()), (expected.scalar_type, expected.bytes.len()), "{name}");
            let differ = found.bytes.iter().zip(&expected.bytes).filter(|(found, expected)| found != expected).count();
            assert!(differ * 10 <= found.bytes.len(), "{name}: {differ} bytes differ");
        }
    }
    assert!(MODEL.with(|model| model.waits.get()) > 0);
}

fn job() -> Job {
    Job { commands: (0x1000, 64), bases: [0x2000, 0x3000, 0x3000], regions: 0x5543, config: 0x1807 }
}

fn model(config: u32, faults: u32) {
    MODEL.with(|model| {
        *model.registers.borrow_mut() = BTreeMap::from([(register::CONFIG, config)]);
        *model.work.borrow_mut() = None;
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
