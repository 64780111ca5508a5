//! Many units that share stages: each distinct action runs once, and never again.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use etbuild_engine::{Event, Stage, UnitReport};
use support::Place;

const TARGETS: [&str; 4] = ["north", "east", "south", "west"];

/// Which stages ran, in order of the graph, each as often as it ran; all of them different.
fn deployed(place: &Place, recipes: &[PathBuf]) -> (BTreeMap<Stage, usize>, Vec<UnitReport>) {
    let started = Arc::new(Mutex::new(Vec::new()));
    let seen = started.clone();
    let observer = move |event: &Event| {
        if let Event::Started { stage, action } = event {
            seen.lock().unwrap().push((*stage, *action));
        }
    };
    let (_, reports) = place.deploy(recipes, &[], Arc::new(observer));
    let started = started.lock().unwrap();
    let distinct: BTreeSet<_> = started.iter().map(|(_, action)| *action).collect();
    assert_eq!(distinct.len(), started.len(), "an action ran twice: {started:?}");
    let counted = started.iter().fold(BTreeMap::new(), |mut counts, (stage, _)| {
        *counts.entry(*stage).or_default() += 1;
        counts
    });
    (counted, reports)
}

#[test]
fn many_units_run_each_distinct_action_once_and_then_none() {
    let place = Place::with_targets(&TARGETS);
    let options =
        ["", "memory: { planner: naive }", "quantize: { scheme: int8-weights }", "export: { weights: external }"];
    let recipe = |(number, options): (usize, &&str)| place.recipe(&format!("net-{number}"), options, &TARGETS);
    let recipes: Vec<PathBuf> = options.iter().enumerate().map(recipe).collect();
    let (ran, reports) = deployed(&place, &recipes);
    assert_eq!(reports.len(), 16);
    assert!(reports.iter().all(|report| report.stage(Stage::Emit).is_some() && report.diagnostics.is_empty()));
    // One model; one recipe quantizes it; with it there are two programs, one of which has two plans. Each recipe has its file.
    let expected = [(Stage::Import, 1), (Stage::Lower, 1), (Stage::Quantize, 1), (Stage::Plan, 3), (Stage::Emit, 4)];
    assert_eq!(ran, BTreeMap::from(expected));
    let (ran, again) = deployed(&place, &recipes);
    assert_eq!(ran, BTreeMap::new());
    let keys = |reports: &[UnitReport]| -> Vec<String> {
        reports.iter().flat_map(|report| &report.stages).map(|row| row.key.clone()).collect()
    };
    assert_eq!(keys(&again), keys(&reports));
}
