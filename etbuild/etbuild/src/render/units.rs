//! Reports and plans as tables.

use std::path::Path;

use etbuild_engine::verify::{Measured, Spread};
use etbuild_engine::{Fallback, PlanState, SizeReport, StackUse, StageRow, UnitPlan, UnitReport, Verification};

use super::{Table, bytes};

/// One row per unit: the files, the sizes, the verification, the cached stages.
pub fn deployment_table(reports: &[UnitReport]) -> String {
    let mut table =
        Table::new(&["target", "binary", "size", "flash", "ram", "accuracy", "max error", "cached", "note"]);
    for report in reports {
        let board = report.sizes.as_ref().filter(|sizes| sizes.stack > 0);
        let of_board = |size: fn(&SizeReport) -> u64| board.map_or_else(|| "-".to_owned(), |sizes| bytes(size(sizes)));
        table.row(vec![
            report.target.clone(),
            binary(report),
            size(report),
            of_board(SizeReport::flash),
            of_board(SizeReport::ram),
            accuracy(&report.verification),
            max_error(&report.verification),
            cached(report),
            note(&report.verification),
        ]);
    }
    let remarks = reports.iter().flat_map(remarks);
    let boards = board_table(reports).into_iter().chain(library_table(reports)).chain(bench_table(reports));
    std::iter::once(table.render()).chain(boards).chain(remarks).collect::<Vec<_>>().join("\n")
}

/// What an inference costs on boards, and where the memory goes; `None` without boards.
fn board_table(reports: &[UnitReport]) -> Option<String> {
    let boards = reports.iter().filter_map(|report| Some((report, report.sizes.filter(|sizes| sizes.stack > 0)?)));
    let mut table = Table::new(&[
        "board",
        "instructions",
        "time (estimate)",
        "bits",
        "arena",
        "static",
        "stack",
        "stack bound",
        "code",
        "program",
        "test data",
    ]);
    let mut is_empty = true;
    for (report, sizes) in boards {
        let mut row = vec![report.target.clone()];
        row.extend(cost(report));
        row.push(bits(report).to_owned());
        row.extend([sizes.arena, sizes.static_ram()].map(bytes));
        row.push(stack(report, sizes.stack));
        row.push(stack_bound(report));
        row.extend([sizes.flash_beyond_program(), sizes.program, sizes.verify].map(bytes));
        table.row(row);
        is_empty = false;
    }
    (!is_empty).then(|| format!("\n{}", table.render()))
}

/// What the libraries of boards take; `None` without one.
fn library_table(reports: &[UnitReport]) -> Option<String> {
    let libraries: Vec<_> = reports.iter().filter_map(|report| Some((report, report.library.as_ref()?))).collect();
    let mut table = Table::new(&["library", "stack of a call", "code", "program"]);
    for (report, library) in &libraries {
        let stack = library.stack.bound().map_or_else(|| "-".to_owned(), |bound| bytes(bound.bytes.into()));
        table.row(vec![report.target.clone(), stack, bytes(library.code), bytes(library.program)]);
    }
    (!libraries.is_empty()).then(|| format!("\n{}", table.render()))
}

/// The cases of a board whose executions the table shows.
const CASES: usize = 8;

/// What the executions of each case took that were measured; `None` where none was.
fn bench_table(reports: &[UnitReport]) -> Option<String> {
    let mut table =
        Table::new(&["bench", "case", "executions", "count", "least", "median", "greatest", "time (estimate)"]);
    let mut is_empty = true;
    for report in reports {
        for (case, measured) in report.cost.iter().flat_map(|cost| &cost.bench).take(CASES).enumerate() {
            let [count, least, median, greatest] = counts(measured);
            let (case, executions) = (case.to_string(), measured.executions.to_string());
            let time = measured.estimated_milliseconds.map_or_else(
                || "-".to_owned(),
                |time| format!("{:.3} to {:.3} ms, median {:.3} ms", time.least, time.greatest, time.median),
            );
            table.row(vec![report.target.clone(), case, executions, count, least, median, greatest, time]);
            is_empty = false;
        }
    }
    (!is_empty).then(|| format!("\n{}", table.render()))
}

/// What was counted, with the least, the median and the greatest count.
fn counts(measured: &Measured) -> [String; 4] {
    let counts = [("instructions", measured.instructions), ("cycles", measured.cycles)];
    match counts.into_iter().find_map(|(name, spread)| Some((name, spread?))) {
        Some((name, Spread { least, median, greatest })) => {
            [name.to_owned(), least.to_string(), median.to_string(), greatest.to_string()]
        }
        None => ["-"; 4].map(str::to_owned),
    }
}

/// Instructions and milliseconds of an inference.
fn cost(report: &UnitReport) -> [String; 2] {
    let unknown = || "-".to_owned();
    let Some(cost) = &report.cost else { return [unknown(), unknown()] };
    let time = cost.estimated_milliseconds.map_or_else(unknown, |time| format!("{time:.2} ms"));
    let cycles = cost.cycles.map(|count| format!("{count} cycles"));
    [cost.instructions.map(|count| count.to_string()).or(cycles).unwrap_or_else(unknown), time]
}

/// The outputs, bit for bit, beside those of the program file on this machine.
const fn bits(report: &UnitReport) -> &'static str {
    match report.same_bits {
        Some(true) => "equal",
        Some(false) => "differ",
        None => "-",
    }
}

/// The stack in use, and the stack that the target keeps.
fn stack(report: &UnitReport, kept: u64) -> String {
    let used = report.cost.as_ref().map(|cost| format!("{} of ", bytes(cost.stack.into())));
    format!("{}{}", used.unwrap_or_default(), bytes(kept))
}

/// The most that calls can use of the stack.
fn stack_bound(report: &UnitReport) -> String {
    let bound = report.stack.as_ref().and_then(StackUse::bound);
    bound.map_or_else(|| "-".to_owned(), |bound| bytes(bound.bytes.into()))
}

/// Facts about the speed of a unit, a line each.
fn remarks(report: &UnitReport) -> impl Iterator<Item = String> + '_ {
    let fallback = report.fallback.as_ref().map(Fallback::remark);
    let cases = report.cost.as_ref().map_or(0, |cost| cost.bench.len());
    let more = (cases > CASES).then(|| format!("{} cases more were measured: `--output json` has all", cases - CASES));
    let lines = fallback.into_iter().chain(report.notes.iter().cloned()).chain(more);
    lines.map(|line| format!("{}@{}: {line}", report.recipe, report.target))
}

fn binary(report: &UnitReport) -> String {
    match (report.files.first(), report.diagnostics.first()) {
        (Some(file), _) => file.path.display().to_string(),
        (None, Some(error)) => format!("failed [{}]", error.code),
        (None, None) => "not built".to_owned(),
    }
}

/// The size of the binary, with the files that the binary reads.
fn size(report: &UnitReport) -> String {
    let embeds = report.sizes.as_ref().is_some_and(|sizes| sizes.program > 0);
    let is_read = |path: &Path| path.extension().is_some_and(|ending| ending == "pte" || ending == "ptd");
    let Some((binary, others)) = report.files.split_first() else { return "-".to_owned() };
    let read = others.iter().filter(|file| !embeds && is_read(&file.path)).map(|file| file.size);
    bytes(binary.size + read.sum::<u64>())
}

fn accuracy(verification: &Verification) -> String {
    match verification {
        Verification::Done(judgement) => match (judgement.accuracy(), judgement.correct) {
            (Some(share), Some(correct)) => format!("{:.2} % ({correct}/{})", share * 100.0, judgement.cases),
            _ => format!("{}/{} as PyTorch", judgement.same_prediction, judgement.cases),
        },
        Verification::Skipped { .. } => "not run".to_owned(),
        Verification::None => "-".to_owned(),
    }
}

fn max_error(verification: &Verification) -> String {
    match verification {
        Verification::Done(judgement) => format!("{:.1e}", judgement.max_error),
        Verification::Skipped { .. } | Verification::None => "-".to_owned(),
    }
}

/// The missing tool, and the way to install the tool.
fn note(verification: &Verification) -> String {
    match verification {
        Verification::Skipped { reason } => {
            let help = reason.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            format!("{}{help}", reason.message)
        }
        Verification::Done(_) | Verification::None => String::new(),
    }
}

/// The cached stages, and separately the fetched stages.
fn cached(report: &UnitReport) -> String {
    let names = |wanted: fn(&StageRow) -> bool| {
        let names: Vec<String> = report.stages.iter().filter(|row| wanted(row)).map(StageRow::name).collect();
        match names.len() {
            count if count == report.stages.len() && count > 0 => "everything".to_owned(),
            _ => names.join(", "),
        }
    };
    match [names(|row| row.cached), names(|row| row.fetched)] {
        [cached, fetched] if cached.is_empty() && fetched.is_empty() => "nothing".to_owned(),
        [cached, fetched] if fetched.is_empty() => cached,
        [cached, fetched] if cached.is_empty() => format!("fetched: {fetched}"),
        [cached, fetched] => format!("{cached}; fetched: {fetched}"),
    }
}

/// One row per stage of each unit: the artifacts in the store, or the reason for the absence.
pub fn plan_table(plans: &[UnitPlan], wanted: Option<&str>) -> String {
    let mut table = Table::new(&["unit", "stage", "state", "key", "because"]);
    for plan in plans {
        for row in plan.stages.iter().filter(|row| wanted.is_none_or(|wanted| wanted == row.stage)) {
            let (state, key, reason) = plan_cells(&row.state);
            let unit = format!("{}@{}", plan.recipe, plan.target);
            table.row(vec![unit, row.name(), state.to_owned(), key, reason]);
        }
    }
    table.render()
}

fn plan_cells(state: &PlanState) -> (&'static str, String, String) {
    match state {
        PlanState::Cached { key } => ("cached", short(key), String::new()),
        PlanState::Remote { key } => ("remote", short(key), String::new()),
        PlanState::Waiting => ("waiting", String::new(), "waits for an earlier stage".to_owned()),
        PlanState::Missing { key, difference, known } => ("run", short(key), because(difference.as_deref(), *known)),
        PlanState::Failed { diagnostics } => {
            ("cannot run", String::new(), diagnostics.first().map_or_else(String::new, |first| first.message.clone()))
        }
    }
}

fn because(difference: Option<&str>, known: bool) -> String {
    match (difference, known) {
        (Some(difference), _) => difference.to_owned(),
        (None, true) => "artifacts removed from the cache".to_owned(),
        (None, false) => "never ran".to_owned(),
    }
}

fn short(key: &str) -> String {
    key.chars().take(12).collect()
}
