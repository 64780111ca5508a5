//! The partitions of all methods become one blob of a backend.

use etbuild_backend::{Backend, TargetFacts};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, text};
use etbuild_store::{Digest, KeyBuilder};

use super::PartitionOptions;
use super::query::key_of_backends;
use crate::action::program::{self, StoredMethods};
use crate::action::{self, Action, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;

/// The program of all methods, with the joined partitions of backends.
pub fn joined(db: &dyn Db, methods: StoredMethods, options: &PartitionOptions) -> StageResult {
    let mut backends = options.backends(db.world())?;
    backends.retain(|backend| backend.joins());
    let PartitionOptions { engines: _, target, compilers } = options.clone();
    action::run(db, &Join { methods, backends, target, compilers })
}

/// Joining partitions.
struct Join {
    methods: StoredMethods,
    backends: Vec<&'static dyn Backend>,
    target: TargetFacts,
    compilers: Vec<(String, Digest)>,
}

impl Keyed for Join {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { methods, backends, target, compilers } = self;
        key_of_backends(methods.key(key.option("joins", true)), backends, target, compilers)
    }
}

impl Action for Join {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (mut program, weights) = self.methods.load(db.world())?;
        etbuild_partition::join(&mut program, &self.backends, &self.target).map_err(|(backend, refusal)| {
            let message = format!("backend `{backend}` cannot compile the program: {refusal}");
            vec![Diagnostic::error(Code::CompilerRefused, message)]
        })?;
        let joined = LoweredProgram::verify(program).map_err(failure::violations)?;
        let joined = joined.into_program();
        program::store(products, &text::print(Lowered::NAME, &joined), &joined, &weights);
        Ok(())
    }
}
