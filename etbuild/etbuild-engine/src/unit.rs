//! One recipe for one target: the inputs of a binary.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::Recipe;
use etbuild_target::Target;

use crate::action::StageResult;
use crate::emit::FileOptions;
use crate::input::Db;
use crate::link::{self, BinarySource, LinkOptions, Maker};
use crate::memory;
use crate::program_source::ProgramSource;
use crate::quantize::MeasureOptions;
use crate::verify::{self, Runner, VerifyOptions};

/// A recipe with the options of one target chosen. A query takes the options of its stage and of the stages before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The recipe's file, and then the extended files.
    pub files: Arc<[PathBuf]>,
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The target.
    pub target: Arc<Target>,
    /// The program before memory planning.
    pub program: ProgramSource,
    /// The banks, and the planner.
    pub memory: etbuild_memory::Options,
    /// The inputs of measuring the loss of quantization.
    pub measure: MeasureOptions,
    /// The parts of the program file besides the model.
    pub file: FileOptions,
    /// The parts of the binary besides the program.
    pub link: LinkOptions,
}

impl Unit {
    /// The name of the recipe and of the binary.
    pub fn name(&self) -> &str {
        self.recipe.name.as_str()
    }

    /// `recipe@target`.
    pub fn instance(&self) -> String {
        format!("{}@{}", self.name(), self.target.name())
    }

    /// The recipe's file.
    pub fn source(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The method, where the name tells stages apart: for stages that run once for each of several methods.
    pub fn part<'m>(&self, method: &'m str) -> Option<&'m str> {
        (self.program.archives.len() > 1).then_some(method)
    }

    /// The folder of the unit's results, below the output folder.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(self.name()).join(self.target.name())
    }

    /// The program with a memory plan.
    pub fn planned(&self, db: &dyn Db) -> StageResult {
        memory::planned(db, self.program.clone(), self.memory.clone())
    }

    /// The program file.
    pub fn emitted(&self, db: &dyn Db) -> StageResult {
        self.binary().emitted(db)
    }

    /// What makes the binary, or the missing part of the toolchain and the way to install it.
    pub fn maker(&self, db: &dyn Db) -> Result<Maker, Box<Diagnostic>> {
        link::maker(db, &self.binary())
    }

    /// The device crates of the binary; `None` for a prebuilt runtime, which has all.
    pub fn selected(&self, db: &dyn Db, maker: &Maker) -> Option<StageResult> {
        match maker {
            Maker::Compiler(tools) => Some(link::selected(db, self.binary(), tools.clone())),
            Maker::Prebuilt(_) => None,
        }
    }

    /// The binary.
    pub fn linked(&self, db: &dyn Db, maker: &Maker) -> StageResult {
        link::linked(db, self.binary(), maker.clone())
    }

    /// The outputs of the binary; `None` where the recipe names no verification data.
    pub fn verified(&self, db: &dyn Db, maker: &Maker, runner: Runner) -> Option<StageResult> {
        let (files, options) = (self.link.verify.as_ref()?, self.recipe.verify.as_ref()?);
        let (name, instance) = (self.name().to_owned(), self.instance());
        let verify = VerifyOptions { inputs: files.inputs, runner, name, instance, timeout: options.timeout.0 };
        Some(verify::verified(db, self.binary(), maker.clone(), verify))
    }

    fn binary(&self) -> BinarySource {
        let Self { program, memory, file, link, .. } = self.clone();
        BinarySource { program, memory, file, link }
    }
}
