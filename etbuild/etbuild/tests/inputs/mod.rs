//! What people give to etbuild that it cannot take: each row of the tables beside this file is refused with a status, a code,
//! a place, a sentence and a hint that helps.

mod case;
mod files;

use case::Case;

/// Every row of a table gets its answer.
#[track_caller]
fn check(name: &str, text: &str) {
    let table = Case::table(name, text);
    let faults: Vec<String> = table.iter().filter_map(Case::fault).collect();
    assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), table.len(), faults.join("\n"));
}

#[test]
fn recipes_with_a_mistake_are_refused() {
    check("recipes.yaml", include_str!("recipes.yaml"));
}

#[test]
fn models_of_other_tools_are_named_with_the_way_in() {
    check("models.yaml", include_str!("models.yaml"));
}

#[test]
fn data_that_does_not_fit_is_refused_where_it_is_named() {
    check("data.yaml", include_str!("data.yaml"));
}

#[test]
fn targets_with_a_mistake_are_refused() {
    check("targets.yaml", include_str!("targets.yaml"));
}

#[test]
fn arguments_with_a_mistake_are_refused() {
    check("arguments.yaml", include_str!("arguments.yaml"));
}
