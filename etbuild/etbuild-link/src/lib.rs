//! From a program file to a binary: kernel selection, the generated Rust project, toolchains, linking, the size report.
//!
//! [`select`] finds a kernel for each operator of the program. [`Project::new`] fills in a template with the kernels.
//! [`toolchain::find`] finds a compiler, [`build`] and [`BuildJob`] compile here or on a worker, [`SizeReport::of`] reads the memory use,
//! [`uf2::write`] packs an image for a boot ROM, and [`report::parse`] reads the report of firmware.
//!
//! ```
//! use et_core::{Dtypes, ScalarType};
//! use etbuild_link::{KernelUse, select};
//!
//! let uses = [KernelUse { operator: "aten::relu.out".to_owned(), dtypes: Dtypes::of(&[ScalarType::Float]) }];
//! let table = select(&uses, et_ops::OPERATORS, &[]).unwrap();
//! assert_eq!(table.kernels()[0].path, "et_ops::activations::relu::out");
//! ```

mod build;
mod c_model;
mod code;
mod dependencies;
mod digest;
mod dll;
mod embedded;
mod error;
mod facts;
mod flags;
mod java;
mod job;
mod library;
mod library_use;
mod manifest;
mod messages;
mod missing;
mod operators;
mod packed;
mod plan;
mod prebuilt;
mod process_package;
mod processor;
mod project;
mod render;
pub mod report;
mod scratch;
mod select;
mod size;
mod sources;
mod stack;
mod swift;
mod symbol;
mod system;
mod target;
mod third_party;
pub mod toolchain;
pub mod uf2;
mod wasm;
mod web;
mod workshop;

pub use build::{Built, build, build_telling};
pub use c_model::{CModel, c_model, c_package_binaries, c_package_digest, c_package_names};
pub use code::CodePart;
pub use dependencies::{Dependency, dependencies};
pub use dll::dll_library;
pub use error::LinkError;
pub use facts::{
    ArenaFacts, BoardFacts, BootBlock, Console, Counter, EngineFacts, MemoryFacts, MethodFacts, Processor, Program,
    ProjectFacts, Region, RegisterStep, Uart, UpdateFacts, VerifyData, program_in_firmware,
};
pub use java::{android_archive, java_classes, java_digest};
pub use job::{BuildJob, JobAnswer, JobEnd};
pub use library::LibraryForm;
pub use library_use::LibraryUse;
pub use messages::Compiled;
pub use missing::MissingKernel;
pub use operators::{CustomKernel, OperatorCrate};
pub use prebuilt::{PrebuiltRuntime, all_features};
pub use process_package::{cmake_name, process_package, process_package_names};
pub use project::{Project, kernel_crates, template_digest, template_names};
pub use select::{KernelTable, KernelUse, SelectedKernel, select};
pub use size::SizeReport;
pub use sources::{SourceCrate, Sources, device_crates_digest};
pub use stack::{Frame, StackBound, StackUse};
pub use swift::{AppleNeeds, ApplePlatform, swift_folders, swift_package};
pub use system::SystemFiles;
pub use target::{API_LEVEL, CompileTarget, Linker};
pub use toolchain::{Route, Toolchain, Watched};
pub use web::{web_package, web_package_digest, web_package_names};
pub use workshop::Workshop;
