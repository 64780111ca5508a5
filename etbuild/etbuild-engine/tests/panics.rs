//! F29: a bug of ours that panics in the middle of a stage.

#[path = "support/engine.rs"]
mod engine;
mod support;

use std::sync::Arc;

use engine::Greedy;
use etbuild_diagnostic::{Code, exit_code};
use etbuild_engine::{Event, Stage, UnitReport, World};
use support::Place;

/// An engine that takes everything and breaks on it.
const BRITTLE: Greedy = Greedy { name: "brittle", lower: || panic!("the engine broke") };

const TARGETS: [&str; 2] = ["one", "other"];

/// Deploys two recipes for two targets each, of which one asks for the engine: what came of that one, and of the other.
fn deployed(place: &Place) -> (Arc<World>, Vec<UnitReport>, Vec<UnitReport>) {
    let recipes = [("broken", "partition: [brittle]"), ("whole", "")];
    let recipes = recipes.map(|(name, options)| place.recipe(name, options, &TARGETS));
    let (world, reports) = place.deploy(&recipes, &[&BRITTLE], Arc::new(|_: &Event| {}));
    let (broken, whole): (Vec<_>, Vec<_>) = reports.into_iter().partition(|report| report.recipe == "broken");
    assert_eq!((broken.len(), whole.len()), (2, 2));
    (world, broken, whole)
}

#[test]
fn a_stage_that_panics_fails_its_units_and_no_other() {
    let (_, broken, whole) = deployed(&Place::with_targets(&TARGETS));
    for report in broken {
        let [diagnostic] = report.diagnostics.as_slice() else { panic!("{:?}", report.diagnostics) };
        assert_eq!((diagnostic.code, exit_code(&report.diagnostics)), (Code::Internal, 1));
        assert_eq!(diagnostic.message, "a stage panicked: the engine broke");
    }
    for report in whole {
        assert_eq!(report.diagnostics, []);
        assert!(report.stage(Stage::Emit).is_some(), "it went as far as it could");
    }
}

#[test]
fn a_stage_that_panicked_left_nothing_and_is_tried_again() {
    let place = Place::with_targets(&TARGETS);
    for _ in 0..2 {
        let (world, broken, _) = deployed(&place);
        assert!(broken.iter().all(|report| report.stage(Stage::Delegate).is_none() && !report.diagnostics.is_empty()));
        assert_eq!(world.store().verify().unwrap(), []);
    }
}
