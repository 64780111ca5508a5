//! `etbuild matrix`: the units of recipes, targets and variables, for the jobs of continuous integration.

use std::collections::BTreeSet;
use std::path::PathBuf;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_engine::{Mode, PlanState, UnitPlan, plan};
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::arguments::{self, MatrixFormat};
use crate::render::Table;
use crate::repository;
use crate::session::Session;

/// The limit of jobs per matrix in GitHub Actions.
const GITHUB_JOBS: usize = 256;

pub fn run(session: &Session, arguments: &arguments::Matrix) -> Outcome {
    let request = session.request(&arguments.recipes)?;
    let shard = arguments.shard.as_deref().map(shard).transpose()?;
    let changed = arguments.changed_since.as_deref().map(repository::changed_since).transpose()?;
    let mut units = plan(&session.world(Mode::Plan)?, &request)?;
    // Shards come before the filters that depend on a cache, so that the shards of several machines partition the same
    // list.
    if let Some((index, count)) = shard {
        units = part(units, index, count);
    }
    units.retain(|unit| changed.as_ref().is_none_or(|changed| is_touched(unit, changed)));
    units.retain(|unit| !arguments.only_stale || unit.is_stale());
    match arguments.format {
        MatrixFormat::Github if units.len() > GITHUB_JOBS => return Err(vec![too_many(units.len())]),
        MatrixFormat::Github => session.terminal.result(&github(&units).to_string()),
        MatrixFormat::Gitlab => session.terminal.result(&gitlab(&units).to_string()),
        MatrixFormat::Json => session.terminal.result(&list(&units).to_string()),
        MatrixFormat::Table => session.terminal.present(&list(&units), &table(&units)),
    }
    Ok(Vec::new())
}

/// `i/n`, counted from 1.
fn shard(text: &str) -> Result<(usize, usize), Vec<Diagnostic>> {
    let parsed = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    parsed.filter(|(index, count)| (1..=*count).contains(index)).ok_or_else(|| {
        let message = format!("`{text}` is not a shard");
        vec![Diagnostic::error(Code::Usage, message).help("write `1/4` for the first of four shards")]
    })
}

/// A shard of `count` in the order of the request. Units of a recipe stay together as far as possible, because they
/// share stages.
fn part(units: Vec<UnitPlan>, index: usize, count: usize) -> Vec<UnitPlan> {
    let total = units.len();
    let (start, end) = (total * (index - 1) / count, total * index / count);
    units.into_iter().skip(start).take(end - start).collect()
}

/// Whether a file that the unit reads has changed; a unit whose files are not known counts as changed.
fn is_touched(unit: &UnitPlan, changed: &BTreeSet<PathBuf>) -> bool {
    let touched = |files: &Vec<PathBuf>| files.iter().any(|file| changed.contains(&repository::absolute(file)));
    unit.inputs.as_ref().is_none_or(touched)
}

/// The facts of a unit for a job.
fn entry(unit: &UnitPlan) -> Value {
    json!({
        "id": unit.instance(), "recipe": unit.file, "name": unit.recipe, "target": unit.target, "cached": !unit.is_stale(),
        "stages": stages_to_run(unit),
    })
}

/// How many stages would run.
fn stages_to_run(unit: &UnitPlan) -> usize {
    unit.stages.iter().filter(|row| !matches!(row.state, PlanState::Cached { .. })).count()
}

fn list(units: &[UnitPlan]) -> Value {
    json!({ "schema": "etbuild.matrix/1", "ok": true, "units": units.iter().map(entry).collect::<Vec<_>>() })
}

fn github(units: &[UnitPlan]) -> Value {
    json!({ "include": units.iter().map(entry).collect::<Vec<_>>() })
}

/// YAML takes JSON. GitLab refuses a pipeline without jobs, so an empty matrix gets a job too.
fn gitlab(units: &[UnitPlan]) -> Value {
    let job = |unit: &UnitPlan| {
        let (id, recipe) = (unit.instance(), unit.file.display().to_string());
        let script = format!("etbuild deploy {} --only {}", quoted(&recipe), quoted(&id));
        (
            format!("etbuild {id}"),
            json!({ "script": [script], "artifacts": { "paths": [format!("out/{}/{}/", unit.recipe, unit.target)] } }),
        )
    };
    let mut jobs: Map<String, Value> = units.iter().map(job).collect();
    if jobs.is_empty() {
        jobs.insert("etbuild".to_owned(), json!({ "script": ["echo nothing to build"] }));
    }
    Value::Object(jobs)
}

/// A word, quoted for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn table(units: &[UnitPlan]) -> String {
    let mut table = Table::new(&["unit", "recipe", "stages to run"]);
    for unit in units {
        table.row(vec![unit.instance(), unit.file.display().to_string(), stages_to_run(unit).to_string()]);
    }
    table.render()
}

fn too_many(count: usize) -> Diagnostic {
    let message = format!("{count} units exceed the limit of {GITHUB_JOBS} jobs in a matrix of GitHub Actions");
    Diagnostic::error(Code::Usage, message)
        .help("split the units with `--shard 1/2`, or skip cached units with `--only-stale`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(count: usize) -> Vec<UnitPlan> {
        let unit = |index: usize| UnitPlan {
            file: "r.yaml".into(),
            recipe: format!("r{index}"),
            target: "t".to_owned(),
            stages: Vec::new(),
            inputs: None,
        };
        (0..count).map(unit).collect()
    }

    #[test]
    fn shards_are_disjoint_and_complete() {
        for (total, count) in [(0, 3), (2, 3), (64, 5), (7, 7)] {
            let parts = (1..=count).flat_map(|index| part(units(total), index, count));
            let names: Vec<String> = parts.map(|unit| unit.recipe).collect();
            assert_eq!(names, units(total).into_iter().map(|unit| unit.recipe).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_shard_index_is_at_most_the_count() {
        assert_eq!(shard("2/3").unwrap(), (2, 3));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_child_pipeline_has_a_job_and_quotes_names() {
        assert_eq!(gitlab(&[]).as_object().unwrap().len(), 1);
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(gitlab(&units(2))["etbuild r1@t"]["script"][0], "etbuild deploy 'r.yaml' --only 'r1@t'");
    }
}
