//! Firmware for boards that QEMU emulates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use etbuild_backend::{Backend, TargetFacts};
use etbuild_conformance::{Candidate, load, run};
use etbuild_emit::{EmitOptions, emit};
use etbuild_ir::{DelegateCall, LoweredProgram};
use etbuild_link::report;
use etbuild_link::*;
use etbuild_memory::{Bank, Options, find_planner, plan};
use etbuild_partition::{InMemory, partition};
use etbuild_system::{Invocation, RealSystem, Slots, System};

use crate::net::{ENGINES, random_inputs};

/// A machine of QEMU.
#[derive(Clone, Copy)]
pub struct Board {
    pub machine: &'static str,
    pub triple: &'static str,
    pub cpu: &'static str,
    /// The extensions of the processor.
    pub features: &'static [&'static str],
    pub flash: u64,
    pub sram: u64,
    /// Nanoseconds between ticks of the system timer.
    pub tick: f64,
    /// The most instructions of an inference of the keyword spotting network.
    pub instructions: u64,
    /// The same with int16 activations.
    pub int16: u64,
    /// The same with int4 weights.
    pub int4: u64,
    /// The most instructions of an inference of the recurrent network.
    pub recurrent: u64,
}

pub const BOARDS: &[Board] = &[
    Board {
        machine: "mps2-an505",
        triple: "thumbv8m.main-none-eabi",
        cpu: "cortex-m33",
        features: &["dsp", "thumb2"],
        flash: 0x1000_0000,
        sram: 0x3800_0000,
        tick: 50.0,
        instructions: 4_500_000,
        int16: 4_600_000,
        int4: 4_900_000,
        recurrent: 2_900_000,
    },
    Board {
        machine: "mps2-an386",
        triple: "thumbv7em-none-eabi",
        cpu: "cortex-m4",
        features: &["dsp", "thumb2"],
        flash: 0,
        sram: 0x2000_0000,
        tick: 40.0,
        instructions: 4_500_000,
        int16: 4_600_000,
        int4: 4_900_000,
        recurrent: 2_900_000,
    },
    Board {
        machine: "mps2-an385",
        triple: "thumbv7m-none-eabi",
        cpu: "cortex-m3",
        features: &["thumb2"],
        flash: 0,
        sram: 0x2000_0000,
        tick: 40.0,
        instructions: 7_500_000,
        int16: 12_000_000,
        int4: 7_700_000,
        recurrent: 4_500_000,
    },
    Board {
        machine: "mps3-an547",
        triple: "thumbv8m.main-none-eabi",
        cpu: "cortex-m55",
        features: &["dsp", "mve", "thumb2"],
        flash: 0,
        sram: 0x2000_0000,
        tick: 31.25,
        instructions: 1_300_000,
        int16: 3_000_000,
        int4: 1_350_000,
        recurrent: 2_100_000,
    },
    // The Cortex-M0 machine of QEMU has too little memory; a Cortex-M3 executes the instructions of a Cortex-M0.
    Board {
        machine: "mps2-an385",
        triple: "thumbv6m-none-eabi",
        cpu: "cortex-m0",
        features: &[],
        flash: 0,
        sram: 0x2000_0000,
        tick: 40.0,
        instructions: 21_500_000,
        int16: 29_000_000,
        int4: 27_600_000,
        recurrent: 10_000_000,
    },
];

/// A program as firmware.
pub struct Firmware {
    board: Board,
    file: Vec<u8>,
    facts: ProjectFacts,
    inputs: Vec<Vec<u8>>,
    target: TargetFacts,
}

/// What a board reported.
pub struct Run {
    pub outputs: Vec<u8>,
    pub instructions: u64,
    pub size: SizeReport,
}

impl Firmware {
    pub fn new(program: LoweredProgram, board: &Board, backends: &[&dyn Backend]) -> Self {
        let features = board.features.iter().map(|feature| (*feature).to_owned()).collect();
        let target =
            TargetFacts { architecture: "thumb".to_owned(), features, hosted: false, ..TargetFacts::default() };
        let inputs = random_inputs(&program, 3);
        let partitioned = partition(program, backends, &target, &InMemory).unwrap();
        let bank = Bank { alignment: 16, ..Bank::unlimited("memory") };
        let planned =
            plan(partitioned.program, &Options { planner: find_planner("greedy").unwrap(), banks: vec![bank] });
        let planned = planned.unwrap();
        let ids = backends.iter().map(|backend| (backend.name().to_owned(), backend.delegate_id().to_owned()));
        let delegates: BTreeMap<String, String> = ids.collect();
        let mut file = Vec::new();
        let emitted = emit(&planned, &EmitOptions { delegates, ..EmitOptions::default() }, &mut file).unwrap();
        let graph = &planned.program().program().methods["forward"];
        let info = &emitted.methods[0];
        let blobs: Vec<&[u8]> = graph
            .nodes
            .iter()
            .filter_map(DelegateCall::of)
            .map(|call| call.blob_data(graph).unwrap().bytes())
            .collect();
        let bytes = |ids: &[etbuild_ir::ValueId]| ids.iter().map(|id| graph.spec(*id).nbytes()).collect::<Vec<_>>();
        let engines = backends.iter().filter(|_| !blobs.is_empty()).map(|backend| EngineFacts {
            id: backend.delegate_id().to_owned(),
            package: backend.device_crate().to_owned(),
            explains: backend.explains_failures(),
            reports: backend.reports_instructions(),
            features: blobs
                .iter()
                .flat_map(|blob| backend.device_features(blob))
                .map(str::to_owned)
                .collect::<BTreeSet<_>>(),
        });
        let uses: Vec<KernelUse> = info
            .kernels
            .iter()
            .map(|kernel| KernelUse { operator: kernel.operator.clone(), dtypes: kernel.dtypes })
            .collect();
        let region = |name: &str, origin: u64, size| Region { name: name.to_owned(), origin, size };
        let flash = region("flash", board.flash, 512 << 10);
        let memory = MemoryFacts {
            code: flash.clone(),
            constants: flash,
            copy_program_to: None,
            arena: region("sram", board.sram, 512 << 10),
            tensors: Vec::new(),
            stack: 8 << 10,
            boot_block: None,
        };
        let method = MethodFacts {
            name: "forward".to_owned(),
            inputs: info.inputs.clone(),
            input_bytes: bytes(&graph.inputs),
            output_bytes: bytes(&graph.outputs),
            output_types: graph.outputs.iter().map(|_| et_core::ScalarType::Float as u8).collect(),
            arenas: info
                .arenas
                .iter()
                .map(|arena| ArenaFacts { bank: arena.bank.clone(), size: arena.size as usize })
                .collect(),
            sizes: 0,
            values: info.values,
            delegates: blobs.iter().map(|_| et_cortex_m::ID.to_owned()).collect(),
        };
        let outputs = vec![0; method.output_bytes.iter().sum()];
        let verify = VerifyData { cases: 1, inputs: inputs.concat(), outputs };
        let facts = ProjectFacts {
            template: "firmware".to_owned(),
            name: "network".to_owned(),
            stamp: "etbuild test".to_owned(),
            kernels: select(&uses, et_ops::OPERATORS, &[]).unwrap(),
            operators: Vec::new(),
            engines: engines.collect(),
            method,
            program: Program::Embedded(file.clone()),
            text: false,
            library: None,
            media: false,
            server: false,
            constrain: false,
            trace: false,
            vision: false,
            hearing: false,
            updates: None,
            system: None,
            board: Some(BoardFacts {
                processor: Processor::of(board.triple).unwrap(),
                memory,
                console: Console::Semihosting,
                counter: None,
                build: "0".repeat(16),
                verify,
                speed: false,
                bench: 0,
            }),
        };
        Self { board: *board, file, facts, inputs, target }
    }

    /// The outputs of the same program file on this machine.
    pub fn expected(&self) -> Vec<u8> {
        let backend = &etbuild_cortex_m::BACKEND;
        let candidate = Candidate { backend, engines: ENGINES, target: &self.target, threads: 1, tolerance: 0.0 };
        let outputs = run(&mut load(&self.file, &candidate).unwrap(), &self.inputs).unwrap();
        outputs.into_iter().flat_map(|output| output.bytes).collect()
    }

    /// Builds and runs the firmware. `None`, said on stderr, where the emulator is not installed and need not be.
    pub fn run(&self) -> Option<Run> {
        let (system, board) = (RealSystem::default(), &self.board);
        let target = CompileTarget {
            triple: board.triple.to_owned(),
            cpu: Some(board.cpu.to_owned()),
            features: Vec::new(),
            linker: Linker::RustLld,
            crt_static: false,
        };
        let toolchain = toolchain::find(&system, &target, true).unwrap();
        let project = Project::new(&self.facts, &Sources::embedded().unwrap()).unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let workshop = Workshop { folder, offline: false, slots: &Slots::new(1) };
        let binary = build(&system, &toolchain, &target, &project, &workshop).unwrap().binary.unwrap();
        let name = format!("{}-{}-{}.elf", board.machine, board.cpu, etbuild_ir::Digest::of(&binary));
        let path = folder.join(name);
        system.write(&path, &binary, true).unwrap();
        let arguments = [
            "-machine",
            board.machine,
            "-nographic",
            "-icount",
            "shift=0",
            "-semihosting-config",
            "enable=on,target=native",
            "-kernel",
        ];
        let invocation = Invocation::new("qemu-system-arm").args(arguments).args([path]);
        let outcome = match system.run(&Invocation { timeout: Some(Duration::from_secs(120)), ..invocation }) {
            Ok(outcome) => outcome,
            Err(error) if std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_some() => panic!("{error}"),
            #[allow(clippy::print_stderr)] // The reader of the test run should know.
            Err(error) => {
                eprintln!("not run: {error}");
                return None;
            }
        };
        let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let report = report::parse(&text).unwrap();
        let Some(report::End::Finished { ticks, .. }) = report.end else { panic!("{text}") };
        let instructions = (f64::from(ticks) * board.tick) as u64;
        Some(Run { outputs: report.outputs.concat(), instructions, size: SizeReport::of(&binary).unwrap() })
    }
}
