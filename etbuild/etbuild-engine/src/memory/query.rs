//! Memory planning.

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::{LoweredProgram, text};
use etbuild_memory::{Bank, Options};
use etbuild_store::{KeyBuilder, Value};

use crate::action::program::{self, StoredMethods};
use crate::action::{self, Action, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;
use crate::program_source::ProgramSource;

/// The program of all methods with a plan for the banks. Targets with the same banks share the plan.
#[salsa::tracked(returns(clone))]
pub fn planned(db: &dyn Db, program: ProgramSource, options: Options) -> StageResult {
    let methods = program.methods(db).map_err(|blocked| blocked.downstream())?;
    action::run(db, &Plan { methods, options })
}

/// Planning.
struct Plan {
    methods: StoredMethods,
    options: Options,
}

impl Keyed for Options {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { planner, banks } = self;
        key.option("memory.planner", planner.name()).fact("banks", Value::List(banks.iter().map(bank).collect()))
    }
}

fn bank(bank: &Bank) -> Value {
    let Bank { name, size, alignment } = bank;
    Value::List(vec![name.into(), (*size).into(), (*alignment).into()])
}

impl Keyed for Plan {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { methods, options } = self;
        options.key(methods.key(key))
    }
}

impl Action for Plan {
    const STAGE: Stage = Stage::Plan;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, weights) = self.methods.load(db.world())?;
        let lowered = LoweredProgram::verify(program).map_err(failure::violations)?;
        let planned = etbuild_memory::plan(lowered, &self.options).map_err(super::failure::memory)?;
        program::store(products, &text::print_plan(&planned), planned.program().program(), &weights);
        Ok(())
    }
}
