//! Memory planning.

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::{LoweredProgram, Program, text};
use etbuild_memory::{Bank, Options};
use etbuild_store::{KeyBuilder, Value};

use crate::action::program::{self, StoredProgram, Weights};
use crate::action::{self, Action, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::input::Db;
use crate::pipeline::Stage;
use crate::program_source::ProgramSource;

/// The program of all methods with a plan for the banks. Targets with the same banks share the plan.
#[salsa::tracked(returns(clone))]
pub fn planned(db: &dyn Db, program: ProgramSource, options: Options) -> StageResult {
    let finished = |method: &String| {
        let staged = program.finished(db, method).map_err(|blocked| blocked.downstream())?;
        Ok((method.clone(), StoredProgram::of(staged)?))
    };
    let methods = program.archives.keys().map(finished).collect::<Result<_, Blocked>>()?;
    action::run(db, &Plan { methods, options })
}

/// Planning.
struct Plan {
    /// The program of each method, by the method's name.
    methods: Vec<(String, StoredProgram)>,
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
        let key = methods.iter().fold(key, |key, (method, program)| program.key(key.option("method", method.as_str())));
        options.key(key)
    }
}

impl Action for Plan {
    const STAGE: Stage = Stage::Plan;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, weights) = self.joined(db)?;
        let lowered = LoweredProgram::verify(program).map_err(failure::violations)?;
        let planned = etbuild_memory::plan(lowered, &self.options).map_err(super::failure::memory)?;
        program::store(products, &text::print_plan(&planned), planned.program().program(), &weights);
        Ok(())
    }
}

impl Plan {
    /// One program of several: an archive has one method, which gets the name in the recipe.
    fn joined(&self, db: &dyn Db) -> Result<(Program, Weights), Vec<Diagnostic>> {
        let (mut joined, mut weights) = (Program::default(), Weights::default());
        for (method, program) in &self.methods {
            let ((_, program), stored) = program.load(db.world(), text::parse)?;
            weights.extend(stored);
            let graph = program.methods.into_values().next();
            let graph = graph.ok_or_else(|| failure::internal("an archive has no method"))?;
            joined.methods.insert(method.clone(), graph);
        }
        Ok((joined, weights))
    }
}
