//! The operators of programs for people.

use etbuild_inspect::{KernelCalls, Missing, ProgramOperators};

use super::Table;

/// The calls of every program, and the missing kernels.
pub fn operators_text(programs: &[ProgramOperators]) -> String {
    programs.iter().map(program_text).collect::<Vec<_>>().join("\n\n")
}

fn program_text(program: &ProgramOperators) -> String {
    let targets = program.targets.join(", ");
    let mut parts = vec![format!("{} for {targets}, runtime {}", program.recipe, program.runtime)];
    if !program.operators.is_empty() {
        parts.push(calls_table(&program.operators));
    }
    if !program.missing.is_empty() {
        parts.push(missing_table(&program.missing));
    }
    parts.join("\n\n")
}

fn calls_table(rows: &[KernelCalls]) -> String {
    let mut table = Table::new(&["operator", "types", "calls", "kernel", "upstream"]);
    for row in rows {
        let mut kernels: Vec<&str> = row.kernels.values().map(String::as_str).collect();
        kernels.dedup();
        let upstream = if row.upstream { "yes" } else { "no" };
        let (types, kernels) = (types(&row.types), kernels.join(" or "));
        table.row(vec![row.operator.clone(), types, row.calls.to_string(), kernels, upstream.to_owned()]);
    }
    table.render()
}

fn missing_table(rows: &[Missing]) -> String {
    let mut table = Table::new(&["missing", "types", "value", "module", "method", "because"]);
    for row in rows {
        let module = row.module.clone().unwrap_or_else(|| "-".to_owned());
        let types = types(&row.types);
        let cells = [&row.operator, &types, &row.value, &module, &row.method, &row.reason];
        table.row(cells.into_iter().cloned().collect());
    }
    table.render()
}

fn types(types: &[&str]) -> String {
    if types.is_empty() { "-".to_owned() } else { types.join(", ") }
}
