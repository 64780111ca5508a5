//! The partitions of all methods become one blob of a backend.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_ir::{Dialect, Lowered, LoweredProgram, text};
use etbuild_store::KeyBuilder;

use super::PartitionOptions;
use super::query::Backends;
use crate::action::program::{self, StoredMethods};
use crate::action::{self, Action, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;

/// The program of all methods, with the joined partitions of backends.
pub fn joined(db: &dyn Db, methods: StoredMethods, options: &PartitionOptions) -> StageResult {
    let mut backends = Backends::of(options, db.world())?;
    backends.list.retain(|backend| backend.joins());
    action::run(db, &Join { methods, backends })
}

/// Joining partitions.
struct Join {
    methods: StoredMethods,
    backends: Backends,
}

impl Keyed for Join {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { methods, backends } = self;
        backends.key(methods.key(key.option("joins", true)))
    }
}

impl Action for Join {
    const STAGE: Stage = Stage::Delegate;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (mut program, weights) = self.methods.load(db.world())?;
        let Backends { list, target, .. } = &self.backends;
        etbuild_partition::join(&mut program, list, target).map_err(|(backend, refusal)| {
            let message = format!("backend `{backend}` cannot compile the program: {refusal}");
            vec![Diagnostic::error(Code::CompilerRefused, message)]
        })?;
        let joined = LoweredProgram::verify(program).map_err(failure::violations)?;
        let joined = joined.into_program();
        program::store(products, &text::print(Lowered::NAME, &joined), &joined, &weights);
        Ok(())
    }
}
