//! The facts of a generated project, as the input of actions.

use std::collections::BTreeSet;
use std::sync::Arc;

use et_module::app::CommandLine;
use et_ops::OPERATORS;
use etbuild_backend::Backend;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::{
    BoardFacts, CompileTarget, Console, Counter, EngineFacts, KernelUse, LibraryForm, LinkError, MemoryFacts,
    MethodFacts, OperatorCrate, Processor, Program, ProjectFacts, SystemFiles, UpdateFacts, VerifyData, select,
};
use etbuild_recipe::{Link, Optimize, Updates};
use etbuild_store::{BlobRef, Digest, KeyBuilder};
use etbuild_target::{Bank, Memory, Target};
use etbuild_yaml::Spanned;

use super::{facts, verify_data};
use crate::action::{ArtifactKind, Blocked, Keyed, StageResult, Staged};
use crate::emit::{self, FileOptions, Interface, InterfaceEngine};
use crate::input::{DataFile, Db, HashedFile};
use crate::pipeline::Stage;
use crate::program_source::ProgramSource;
use crate::{PRODUCER, failure};

/// The inputs of a binary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BinarySource {
    /// The program before memory planning.
    pub program: ProgramSource,
    /// The banks, and the planner.
    pub memory: etbuild_memory::Options,
    /// The parts of the program file besides the model.
    pub file: FileOptions,
    /// The parts of the binary besides the program.
    pub link: LinkOptions,
}

impl BinarySource {
    /// The same binary with no C library beside it.
    #[must_use]
    pub fn without_library(mut self) -> Self {
        self.link.library = false;
        self
    }

    /// The program file.
    pub fn emitted(&self, db: &dyn Db) -> StageResult {
        emit::emitted(db, self.program.clone(), self.memory.clone(), self.file.clone())
    }
}

/// The options of a binary besides the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinkOptions {
    /// The name of the recipe and of the binary.
    pub name: String,
    /// What the binary is made of; `None` for what this machine has.
    pub link: Option<Spanned<Link>>,
    /// Whether the program file is inside the binary, on any target.
    pub is_single: bool,
    /// Whether a C library is made beside the binary.
    pub library: bool,
    /// Whether the binary of a language model has a server.
    pub server: bool,
    /// Whether the binary of a language model has constrained output.
    pub constrain: bool,
    /// Whether the binary records its executions.
    pub trace: bool,
    /// How many times firmware executes each verification case again and counts; `None` for not at all.
    pub bench: Option<u32>,
    /// The updates that the binary takes; `None` for none.
    pub updates: Option<Updates>,
    /// The crates of custom operators.
    pub operators: Vec<OperatorCrate>,
    /// The command line of a process.
    pub command_line: CommandLine,
    /// The target.
    pub target: Arc<Target>,
    /// The verification data.
    pub verify: Option<VerifyFiles>,
    /// The aim of the compiler for firmware.
    pub optimize: Optimize,
}

/// The files of verification data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VerifyFiles {
    /// The inputs, and the reference outputs without a file of their own.
    pub inputs: DataFile,
    /// The reference outputs.
    pub reference: Option<DataFile>,
    /// The prefix of the names of reference outputs.
    pub outputs: String,
}

impl LinkOptions {
    /// Whether the recipe asks for a prebuilt runtime.
    pub fn is_prebuilt(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.value == Link::Prebuilt)
    }

    /// The folder below `templates/` that the project is made from.
    pub fn template(&self) -> &str {
        match self.command_line {
            CommandLine::Language if self.target.memory().is_none() => LANGUAGE,
            CommandLine::Pictures if self.target.memory().is_none() => PICTURES,
            _ => self.target.template(),
        }
    }
}

/// The template of processes that run language models.
const LANGUAGE: &str = "language-app";
/// The template of processes that make pictures.
const PICTURES: &str = "diffusion-app";

/// The facts of a project.
pub struct ProjectInputs {
    /// The facts that the manifest depends on.
    pub manifest: ManifestInputs,
    /// The binary's name.
    pub name: String,
    /// The method that runs.
    pub method: MethodFacts,
    /// The program file, where the program file is inside the binary.
    pub program: Option<BlobRef>,
    /// The facts of firmware; `None` for a process.
    pub board: Option<BoardInputs>,
    /// The processor, for a binary that Rust's own linker links with Android's C library.
    pub system: Option<SystemFiles>,
    /// The endings of the data files beside the program file, for a package for JavaScript; `None` without a package.
    pub web: Option<Vec<&'static str>>,
}

/// The facts that the dependencies of a project depend on.
pub struct ManifestInputs {
    template: String,
    kernels: Vec<KernelUse>,
    /// The crates of custom operators that have some of the kernels.
    operators: Vec<OperatorCrate>,
    engines: Vec<EngineFacts>,
    text: bool,
    media: bool,
    vision: bool,
    hearing: bool,
    library: Option<LibraryForm>,
    server: bool,
    constrain: bool,
    trace: bool,
    updates: Option<Updates>,
}

/// The facts of firmware.
pub struct BoardInputs {
    processor: Processor,
    memory: MemoryFacts,
    console: Console,
    counter: Option<Counter>,
    optimize: Optimize,
    bench: Option<u32>,
    verify: Option<HashedVerify>,
}

/// The verification data as the input of an action.
struct HashedVerify {
    inputs: HashedFile,
    reference: Option<HashedFile>,
    /// The prefix of the names of reference outputs.
    outputs: String,
}

impl ProjectInputs {
    /// The facts of the project for an emitted program, compiled for `target`.
    pub fn of(
        db: &dyn Db,
        options: &LinkOptions,
        target: &CompileTarget,
        emitted: &Staged,
        stage: Stage,
    ) -> Result<Self, Blocked> {
        let failed = |found| Blocked::failed(stage, found);
        let interface = read_interface(db, emitted)?;
        let board = BoardInputs::of(db, options, stage)?;
        let kernels = interface.kernel_uses(board.is_some());
        let has_kernel = |found: &&OperatorCrate| kernels.iter().any(|used| found.kernel(&used.operator).is_some());
        let manifest = ManifestInputs {
            template: options.template().to_owned(),
            operators: options.operators.iter().filter(has_kernel).cloned().collect(),
            kernels,
            engines: engines(db.world().engines(), interface.engines(board.is_some())).map_err(failed)?,
            text: interface.has_tokenizer(),
            // Firmware has no files.
            media: interface.has_media() && board.is_none(),
            hearing: interface.has_hearing() && interface.has_tokenizer() && board.is_none(),
            vision: interface.has_vision() && interface.has_tokenizer() && board.is_none(),
            library: options.library.then(|| LibraryForm::of(target)),
            // Neither firmware nor WebAssembly has sockets.
            server: options.server
                && options.command_line == CommandLine::Language
                && board.is_none()
                && target.has_binary()
                && !target.is_wasm(),
            constrain: options.constrain && interface.has_tokenizer() && board.is_none(),
            trace: options.trace && board.is_none(),
            updates: options.updates.filter(|_| board.is_none() && !target.is_wasm()),
        };
        let method = interface.method().ok_or_else(|| Blocked::internal(stage, "the program file has no method"))?;
        let is_inside = board.is_some() || options.is_single;
        let program = is_inside.then(|| emitted.blob(ArtifactKind::ProgramFile)).transpose()?;
        let system = SystemFiles::of(target);
        let has_package = manifest.library == Some(LibraryForm::Wasm);
        let web = has_package.then(|| emit::data_files(emitted).into_iter().map(|(ending, _)| ending).collect());
        Ok(Self { manifest, name: options.name.clone(), method, program, board, system, web })
    }

    /// Whether the shared library of the project has functions for Java.
    pub fn is_for_java(&self) -> bool {
        self.manifest.library.is_some_and(LibraryForm::is_for_java)
    }

    /// Whether the library of the project is a DLL.
    pub fn has_dll(&self) -> bool {
        self.manifest.library == Some(LibraryForm::Dll)
    }

    /// The facts without the embedded files, which no manifest depends on.
    pub fn without_data(&self) -> Result<ProjectFacts, Vec<Diagnostic>> {
        self.facts(Vec::new(), VerifyData::default(), "")
    }

    /// A failure of the link of the project, blamed on the crates of custom operators where it is theirs.
    pub fn blamed(&self, error: LinkError) -> LinkError {
        OperatorCrate::blamed(error, &self.manifest.operators)
    }

    /// All facts. `build` is the digest of everything that the binary is made from.
    pub fn with_data(&self, db: &dyn Db, build: &str) -> Result<ProjectFacts, Vec<Diagnostic>> {
        let verify = self.board.as_ref().and_then(|board| board.verify.as_ref()).map(|files| {
            let inputs = files.inputs.read(db)?;
            let reference = files.reference.map(|file| file.read(db)).transpose()?;
            let reference = reference.as_ref().unwrap_or(&inputs);
            verify_data::cases((&inputs, reference), &self.method, &files.outputs)
        });
        let program = self.program.map(|program| db.world().open_blob(&program).to_vec());
        self.facts(program.unwrap_or_default(), verify.transpose()?.unwrap_or_default(), build)
    }

    fn facts(&self, program: Vec<u8>, verify: VerifyData, build: &str) -> Result<ProjectFacts, Vec<Diagnostic>> {
        let ManifestInputs {
            template,
            kernels,
            operators,
            engines,
            text,
            media,
            vision,
            hearing,
            library,
            server,
            constrain,
            trace,
            updates,
        } = &self.manifest;
        let kernels = select(kernels, OPERATORS, operators).map_err(|error| vec![facts::link_error(&error)])?;
        let program = match self.program {
            Some(_) => Program::Embedded(program),
            None => Program::Beside(format!("{}.pte", self.name)),
        };
        let board = self.board.as_ref().map(|board| BoardFacts {
            processor: board.processor,
            memory: board.memory.clone(),
            console: board.console.clone(),
            counter: board.counter.clone(),
            speed: board.optimize == Optimize::Speed,
            bench: board.bench.unwrap_or_default(),
            build: build.to_owned(),
            verify,
        });
        Ok(ProjectFacts {
            template: template.clone(),
            name: self.name.clone(),
            stamp: PRODUCER.to_owned(),
            kernels,
            operators: operators.clone(),
            engines: engines.clone(),
            method: self.method.clone(),
            program,
            text: *text,
            media: *media,
            vision: *vision,
            hearing: *hearing,
            library: *library,
            server: *server,
            constrain: *constrain,
            trace: *trace,
            updates: updates.map(|updates| UpdateFacts { key: updates.key() }),
            system: self.system,
            board,
        })
    }
}

impl BoardInputs {
    /// `None` for a target with an operating system.
    fn of(db: &dyn Db, options: &LinkOptions, stage: Stage) -> Result<Option<Self>, Blocked> {
        let Some(memory) = options.target.memory() else { return Ok(None) };
        let hashed =
            |file: DataFile| HashedFile::of(db, file).map_err(|error| verify_data::unreadable(db, file, error));
        let verify = |files: &VerifyFiles| {
            let reference = files.reference.map(hashed).transpose()?;
            Ok(HashedVerify { inputs: hashed(files.inputs)?, reference, outputs: files.outputs.clone() })
        };
        Ok(Some(Self {
            processor: facts::processor(&options.target).map_err(|found| Blocked::failed(stage, found))?,
            memory: facts::memory_facts(memory),
            console: facts::console(options.target.console()).map_err(|found| Blocked::failed(stage, found))?,
            counter: options.target.counter().map(facts::counter),
            optimize: options.optimize,
            bench: options.bench,
            verify: options.verify.as_ref().map(verify).transpose()?,
        }))
    }
}

impl Keyed for ManifestInputs {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            template,
            kernels,
            operators,
            engines,
            text,
            media,
            vision,
            hearing,
            library,
            server,
            constrain,
            trace,
            updates,
        } = self;
        let key = operators.iter().fold(key, |key, found| {
            key.fact("operators", found.name()).input("operators", Digest::of(found.digest().as_bytes()))
        });
        let key = if *vision { key.fact("vision", true) } else { key };
        let key = if *hearing { key.fact("hearing", true) } else { key };
        let key = if *trace { key.option("trace", true) } else { key };
        let key = match updates {
            None => key,
            Some(updates) => key.option("updates", format!("{updates:?}")),
        };
        key.fact("kernels", kernels.iter().map(kernel).collect::<Vec<String>>())
            .fact("engines", engines.iter().map(engine).collect::<Vec<String>>())
            .fact("template", template.as_str())
            .input("template", template_digest(template))
            .fact("text", *text)
            .fact("media", *media)
            .option("library", library.is_some())
            .fact("form of the library", library.map(LibraryForm::name))
            .option("server", *server)
            .option("constrain", *constrain)
    }
}

impl Keyed for ProjectInputs {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            manifest,
            name,
            method,
            program,
            board,
            system: _, // Follows from the triple and the linker.
            web,
        } = self;
        let key = manifest.key(key).option("producer", PRODUCER);
        let key = match manifest.library {
            Some(_) => key.input("package", Digest::of(etbuild_link::c_package_digest().as_bytes())),
            None => key,
        };
        let key = match manifest.library {
            Some(form) if form.is_for_java() => {
                key.input("java package", Digest::of(etbuild_link::java_digest().as_bytes()))
            }
            _ => key,
        };
        let key = web.iter().fold(key, |key, data| {
            let data: Vec<String> = data.iter().map(ToString::to_string).collect();
            key.input("web package", Digest::of(etbuild_link::web_package_digest().as_bytes()))
                .fact("data files", data)
                .fact("outputs", method.output_bytes.len().to_string())
        });
        let key = program.iter().fold(key, |key, program| key.input("program", program.digest));
        match board {
            // Processes read the other facts of the method from the program file beside the binary.
            None => key
                .option("name", name.as_str())
                .fact("method", method.name.as_str())
                .fact("inputs", method.inputs.clone()),
            // Firmware has no name, and the functions of a library begin with it.
            Some(board) => {
                let key = match manifest.library {
                    Some(_) => key.option("name", name.as_str()),
                    None => key,
                };
                board.key(key.fact("method", format!("{method:?}")))
            }
        }
    }
}

impl Keyed for BoardInputs {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { processor, memory, console, counter, optimize, bench, verify } = self;
        let key = key.fact("processor", format!("{processor:?}"));
        let key = key.fact("memory", format!("{memory:?}")).fact("console", format!("{console:?}"));
        let key = key.fact("counter", format!("{counter:?}")).option("optimize", format!("{optimize:?}"));
        let key = bench.iter().fold(key, |key, executions| key.option("bench", u64::from(*executions)));
        verify.iter().fold(key, |key, HashedVerify { inputs, reference, outputs }| {
            let key = key.input("verify", inputs.digest).option("verify.outputs", outputs.as_str());
            reference.iter().fold(key, |key, file| key.input("verify.reference", file.digest))
        })
    }
}

impl Keyed for CompileTarget {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { triple, cpu, features, linker, crt_static } = self;
        key.fact("triple", triple.as_str())
            .fact("cpu", cpu.clone())
            .fact("features", features.clone())
            .fact("linker", format!("{linker:?}"))
            .fact("crt-static", *crt_static)
    }
}

/// A kernel with the types, as a key names both: `aten::relu.out 0x40`.
fn kernel(used: &KernelUse) -> String {
    let KernelUse { operator, dtypes } = used;
    format!("{operator} {:#x}", dtypes.0)
}

/// A backend with the needed features, as a key names both: `EtbuildCpu et-cpu attention pools`; `(explains)` behind the crate if
/// the crate has words for failures, `(reports)` if the crate reports instructions.
fn engine(facts: &EngineFacts) -> String {
    let EngineFacts { id, package, features, explains, reports } = facts;
    let flags = [(*explains, " (explains)"), (*reports, " (reports)")];
    let flags: String = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
    let start = format!("{id} {package}{flags}");
    features.iter().fold(start, |text, feature| format!("{text} {feature}"))
}

/// The error of a program file of this size; `None` where the banks of a board have room for it.
pub fn too_large(size: u64, memory: &Memory) -> Option<Diagnostic> {
    let mut banks = memory.copy_program_to.iter().chain([&memory.constants]);
    let Bank { name, size: room, .. } = banks.find(|bank| size > bank.size.0)?;
    let message = format!("the program takes {size} bytes, and bank `{name}` has {}", room.0);
    Some(Diagnostic::error(Code::BankTooSmall, message))
}

/// The digest of the template's files; of no files for a missing template, which the link reports.
fn template_digest(template: &str) -> Digest {
    Digest::of(etbuild_link::template_digest(template).unwrap_or_default().as_bytes())
}

/// The interface of a program file.
pub fn read_interface(db: &dyn Db, emitted: &Staged) -> Result<Interface, Blocked> {
    emitted.json(db.world(), ArtifactKind::Interface)
}

/// The device half of a backend, with these features.
pub fn engine_facts(backend: &dyn Backend, features: BTreeSet<String>) -> EngineFacts {
    EngineFacts {
        id: backend.delegate_id().to_owned(),
        package: backend.device_crate().to_owned(),
        features,
        explains: backend.explains_failures(),
        reports: backend.reports_instructions(),
    }
}

/// The backends of the binary.
fn engines(backends: &[&dyn Backend], called: &[InterfaceEngine]) -> Result<Vec<EngineFacts>, Vec<Diagnostic>> {
    let engine = |InterfaceEngine { id, features }: &InterfaceEngine| {
        let backend = backends.iter().find(|backend| backend.delegate_id() == id);
        backend
            .map(|backend| engine_facts(*backend, features.clone()))
            .ok_or_else(|| failure::internal("a backend is missing"))
    };
    called.iter().map(engine).collect()
}
