//! The operators of a program, the kernels for the operators, and the missing kernels, without a build.

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::{Dtypes, ScalarType};
use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::Blocked;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::input::{Db, EngineDatabase};
use etbuild_engine::lower::{refusal as refused, widen};
use etbuild_engine::pipeline::Stage;
use etbuild_engine::request::{Request, resolve};
use etbuild_engine::session::{World, guarded};
use etbuild_engine::unit::Unit;
use etbuild_engine::{failure, import};
use etbuild_ir::{AtenProgram, Control, Graph, Node, Program, aliases, copied_updates, is_elided, text};
use etbuild_link::OperatorCrate;
use etbuild_pass::{Refusal, Survey, survey};
use serde::Serialize;

/// The operators of one recipe's program, which is the same for all targets with the same lowering.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramOperators {
    /// The recipe's name.
    pub recipe: String,
    /// The targets' names.
    pub targets: Vec<String>,
    /// The runtime that the program is lowered for.
    pub runtime: &'static str,
    /// The calls of the program, by operator and types. With a missing kernel, the calls of the part that could be lowered.
    pub operators: Vec<KernelCalls>,
    /// Every call that no kernel serves.
    pub missing: Vec<Missing>,
    /// The diagnostics of commands that build the program.
    pub diagnostics: Vec<Diagnostic>,
}

/// The calls of an operator with tensors of the same types.
#[derive(Clone, Debug, Serialize)]
pub struct KernelCalls {
    /// The registered name, such as `aten::add.out`.
    pub operator: String,
    /// The types that the calls select ([`et_ops::selection`]).
    pub types: Vec<&'static str>,
    /// The number of calls.
    pub calls: usize,
    /// The kernel on each target, and the types of the compiled kernel there: the types of all calls of the operator.
    pub kernels: BTreeMap<String, String>,
    /// Whether ExecuTorch's own runtime has the operator.
    pub upstream: bool,
}

/// A call that no kernel serves.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// The operator in the model or a decomposition.
    pub operator: String,
    /// The types of the tensors that the call reads.
    pub types: Vec<&'static str>,
    /// The method that the call is in.
    pub method: String,
    /// The output value.
    pub value: String,
    /// The module of the model's source, where the archive names the module.
    pub module: Option<String>,
    /// The refusal.
    pub reason: String,
}

/// The operators of every recipe of a request. `world` must not be in [`etbuild_engine::Mode::Plan`]: models are imported.
///
/// # Errors
/// Mistakes in the recipes.
pub fn operators(world: &Arc<World>, request: &Request) -> Result<Vec<ProgramOperators>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let programs = guarded(|| {
        let units = resolve(&db, request)?;
        Ok(same_program(&units).into_iter().map(|units| of_program(&db, &units)).collect())
    });
    programs.unwrap_or_else(|transient| Err(vec![transient.into()]))
}

/// Units whose programs are lowered alike, in the order of the request.
fn same_program(units: &[Unit]) -> Vec<Vec<&Unit>> {
    let key = |unit: &Unit| (unit.recipe.name.as_str().to_owned(), unit.program.archives.clone(), unit.program.runtime);
    let mut groups: Vec<Vec<&Unit>> = Vec::new();
    for unit in units {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| key(first) == key(unit))) {
            Some(group) => group.push(unit),
            None => groups.push(vec![unit]),
        }
    }
    groups
}

fn of_program(db: &dyn Db, units: &[&Unit]) -> ProgramOperators {
    let targets: Vec<String> = units.iter().map(|unit| unit.target.name().to_owned()).collect();
    let unit = units[0];
    let mut found = ProgramOperators {
        recipe: unit.name().to_owned(),
        runtime: unit.program.runtime.name(),
        operators: Vec::new(),
        missing: Vec::new(),
        diagnostics: Vec::new(),
        targets,
    };
    match surveyed(db, unit) {
        Ok(Survey { program, refusals }) => {
            found.operators = rows(&program, &found.targets, &unit.link.operators);
            found.missing = refusals.iter().map(missing).collect();
            found.diagnostics = refusals.iter().map(|refusal| place(unit, refused(refusal))).collect();
        }
        Err(blocked) => {
            found.diagnostics = blocked.diagnostics(|diagnostic| place(unit, diagnostic.clone()));
        }
    }
    found
}

fn surveyed(db: &dyn Db, unit: &Unit) -> Result<Survey, Blocked> {
    let failed = |diagnostics: Vec<Diagnostic>| Blocked::failed(Stage::Lower, diagnostics);
    let mut program = Program::default();
    for (method, archive) in &unit.program.archives {
        let imported = import::imported(db, *archive)?;
        let stored = StoredProgram::of(imported)?;
        let ((_, mut part), mut weights) = stored.load(db.world(), text::parse).map_err(failed)?;
        widen(db.world(), &mut part, &mut weights);
        program.methods.extend(part.methods.into_values().map(|graph| (method.clone(), graph)));
    }
    let aten = AtenProgram::verify(program).map_err(|found| failed(failure::violations(found)))?;
    Ok(survey(aten, unit.program.runtime))
}

/// A diagnostic without a place gets the model's place.
fn place(unit: &Unit, diagnostic: Diagnostic) -> Diagnostic {
    match diagnostic.span {
        Some(_) => diagnostic,
        None => diagnostic.at((*unit.recipe.model.span()).clone()),
    }
}

fn missing(refusal: &Refusal) -> Missing {
    Missing {
        operator: refusal.operator.clone(),
        types: refusal.scalar_types.iter().map(|scalar_type| scalar_type.name()).collect(),
        method: refusal.method.clone(),
        value: refusal.value.clone(),
        module: refusal.origin.as_deref().map(str::to_owned),
        reason: refusal.reason.to_string(),
    }
}

/// Calls by operator and types.
type Counts = BTreeMap<(String, u32), usize>;

fn rows(program: &Program, targets: &[String], custom: &[OperatorCrate]) -> Vec<KernelCalls> {
    let mut counts = Counts::new();
    program.methods.values().for_each(|graph| count(graph, &mut counts));
    let all_types = |operator: &str| {
        let types = counts.keys().filter(|(other, _)| other == operator);
        types.fold(0, |all, (_, types)| all | types)
    };
    let row = |((operator, types), &calls): (&(String, u32), &usize)| {
        let kernel = kernel(operator, Dtypes(all_types(operator)), custom);
        KernelCalls {
            operator: operator.clone(),
            types: names(Dtypes(*types)),
            calls,
            kernels: targets.iter().map(|target| (target.clone(), kernel.clone())).collect(),
            upstream: et_ops::has_upstream(operator),
        }
    };
    counts.iter().map(row).collect()
}

/// `et_ops::elementwise::add::out<float32, int64>`, or a kernel of a crate with custom operators; a primitive has one kernel for all types.
fn kernel(operator: &str, types: Dtypes, custom: &[OperatorCrate]) -> String {
    let portable = et_ops::find(operator).map(|operator| operator.path);
    let path = portable.or_else(|| {
        et_ops::PRIMITIVES.iter().find(|primitive| primitive.name() == operator).map(|primitive| primitive.path)
    });
    let of_crate = || custom.iter().find_map(|found| found.kernel(operator).map(|kernel| found.path(kernel)));
    let path = path.map(str::to_owned).or_else(of_crate).unwrap_or_default();
    if types == Dtypes::NONE { path } else { format!("{path}<{}>", names(types).join(", ")) }
}

fn names(types: Dtypes) -> Vec<&'static str> {
    types.iter().map(ScalarType::name).collect()
}

/// Counts the calls of an emitter: views that move no bytes are no calls, updates are.
fn count(graph: &Graph, counts: &mut Counts) {
    let aliases = aliases(graph);
    let calls = graph.nodes.iter().filter(|node| Control::of(node).is_none() && !is_elided(node, &aliases));
    let updates = copied_updates(graph, &aliases).map(|update| {
        let type_of = |id| graph.spec(id).scalar_type;
        ("aten::copy_".to_owned(), Dtypes::of(&[type_of(update.value), type_of(update.target)]))
    });
    for (operator, types) in calls.filter_map(|node| call(graph, node)).chain(updates) {
        *counts.entry((operator, types.0)).or_insert(0) += 1;
    }
}

fn call(graph: &Graph, node: &Node) -> Option<(String, Dtypes)> {
    if let Some(primitive) = node.operator.primitive() {
        return Some((primitive.name().to_owned(), Dtypes::NONE));
    }
    let (name, dtypes) = if node.operator.is_custom() {
        (node.operator.out_variant(), Dtypes::STORED)
    } else {
        let operator = et_ops::find_functional(&node.operator.qualified())?;
        (operator.name().to_owned(), operator.dtypes)
    };
    let type_of = |id| graph.spec(id).scalar_type;
    let tensors = node.uses().filter(|id| graph.number(*id).is_none()).map(type_of);
    let outputs = node.outputs.iter().copied().map(type_of);
    Some((name, et_ops::selection(dtypes, tensors, outputs)))
}
