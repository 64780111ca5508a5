//! Runtimes that are compiled before their programs are known, with all kernels: what machines without a Rust toolchain make
//! binaries of.

use std::collections::BTreeSet;

use et_ops::{OPERATORS, PRIMITIVES};

use crate::digest::digest;
use crate::{
    CompileTarget, EngineFacts, KernelUse, LinkError, MethodFacts, Program, Project, ProjectFacts, Sources,
    SystemFiles, flags, select,
};

/// The template of the runtimes.
const TEMPLATE: &str = "prebuilt-app";

/// A runtime for all programs on a target.
#[derive(Clone, Debug)]
pub struct PrebuiltRuntime {
    /// The Rust target.
    pub target: CompileTarget,
    /// The text of `--version`: the producer of the runtime.
    pub stamp: String,
    /// The delegates, with all features.
    pub engines: Vec<EngineFacts>,
}

impl PrebuiltRuntime {
    /// The project of the runtime.
    ///
    /// # Errors
    /// As of [`Project::new`], which tests exclude.
    pub fn project(&self) -> Result<Project, LinkError> {
        Project::new(&self.facts()?, &Sources::embedded()?)
    }

    /// The name of the runtime's file, which has the digest of the project and of the flags: of all that the runtime is made from besides
    /// the toolchain. A runtime of another version of etbuild has another name.
    pub fn file_name(&self, project: &Project) -> String {
        let CompileTarget { triple, linker: _, .. } = &self.target;
        let flags = flags::everywhere(&self.target, project);
        let parts = project.files().chain([(triple.as_str(), flags.as_bytes())]);
        let digest: String = digest(parts).chars().take(16).collect();
        format!("{triple}-{digest}")
    }

    fn facts(&self) -> Result<ProjectFacts, LinkError> {
        let operators = OPERATORS
            .iter()
            .map(|operator| KernelUse { operator: operator.name().to_owned(), dtypes: operator.dtypes });
        let primitives = PRIMITIVES
            .iter()
            .map(|primitive| KernelUse { operator: primitive.name().to_owned(), dtypes: et_core::Dtypes::NONE });
        let uses: Vec<KernelUse> = operators.chain(primitives).collect();
        Ok(ProjectFacts {
            template: TEMPLATE.to_owned(),
            name: String::new(),
            stamp: self.stamp.clone(),
            kernels: select(&uses, OPERATORS, &[])?,
            operators: Vec::new(),
            engines: self.engines.clone(),
            method: MethodFacts::default(),
            program: Program::Later,
            text: true,
            media: true,
            vision: true,
            hearing: true,
            server: true,
            constrain: true,
            trace: true,
            updates: None,
            library: None,
            system: SystemFiles::of(&self.target),
            board: None,
        })
    }

    /// Why the runtime cannot stand for a project, in words; `None` where it can.
    pub fn refusal(&self, facts: &ProjectFacts) -> Option<String> {
        let reasons = [
            (facts.board.is_some(), "firmware is compiled for its program"),
            (!self.target.is_linux(), "prebuilt runtimes are for Linux"),
            (facts.library.is_some(), "a library is compiled for its program"),
            (facts.updates.is_some(), "a binary that takes updates is compiled with its key"),
            (!facts.operators.is_empty(), "custom operators are compiled into the binary"),
        ];
        let known = |wanted: &&EngineFacts| self.engines.iter().any(|engine| engine.id == wanted.id);
        let missing = facts.engines.iter().find(|wanted| !known(wanted));
        let missing = missing.map(|wanted| format!("the target's prebuilt runtime lacks `{}`", wanted.package));
        reasons.into_iter().find_map(|(is_so, reason)| is_so.then(|| reason.to_owned())).or(missing)
    }
}

/// The features of a device crate with which the crate executes whatever its backend lowers.
///
/// # Errors
/// [`LinkError::Template`] for a crate that is not embedded.
pub fn all_features(package: &str) -> Result<BTreeSet<String>, LinkError> {
    Sources::embedded()?.default_features(package)
}
