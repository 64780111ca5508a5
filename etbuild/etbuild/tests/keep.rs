//! Roots of garbage collection: the artifacts that each user keeps.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use etbuild_store::Store;

use crate::support::{self, Place, RECIPE, Ran, files};

const STRICT: &str = "cache gc --max-size 1B";

#[test]
fn deployed_artifacts_stay_while_their_results_exist() {
    let place = Place::warm();
    let deploy = format!("deploy {RECIPE} --target linux-x86_64");
    place.run(&deploy).expect(0);
    let stat = place.json("cache stat");
    assert_eq!(stat["units"][0]["unit"], "digits@linux-x86_64");
    assert!(stat["kept"].as_u64().unwrap() > 0 && stat["unused"].as_u64().unwrap() > 0, "{stat}");
    place.run(STRICT).expect(0);
    let after = place.json("cache stat");
    assert_eq!((&after["kept"], &after["unused"]), (&stat["kept"], &0.into()), "the other targets have gone");
    assert_eq!(support::not_cached(&place.json(&deploy), "linux-x86_64"), [""; 0]);
    fs::remove_dir_all(place.out()).unwrap();
    place.run(STRICT).expect(0);
    assert_eq!(place.json("cache stat")["bytes"], 0);
}

#[test]
fn a_build_collects_a_cache_over_the_limit_by_itself() {
    let place = Place::warm();
    let build = format!("build {RECIPE} --target linux-x86_64");
    place.run(&build).expect(0);
    let store = Store::open(&place.cache()).unwrap();
    let stray = store.put(b"stray").unwrap();
    let name = stray.digest.to_string();
    let blob = place.cache().join("v1/cas").join(&name[..2]).join(&name[2..]);
    let day_ago = SystemTime::now() - Duration::from_secs(25 * 60 * 60);
    let date = |file: File| file.set_modified(day_ago).unwrap();
    date(File::open(&blob).unwrap());
    place.run(&build).expect(0);
    assert!(blob.exists(), "the size was checked less than a day ago");
    date(File::create(place.cache().join("v1/checked")).unwrap());
    let mut command = place.command(build.split(' '));
    let said = Ran::of(command.env("ETBUILD_CACHE_SIZE", "1 B")).expect(0).stderr;
    assert!(said.contains("of the least recently used artifacts") && !blob.exists(), "{said}");
    assert_eq!(support::not_cached(&place.json(&build), "linux-x86_64"), [""; 0]);
}

#[test]
fn without_roots_all_artifacts_may_go_and_the_next_deploy_rebuilds() {
    let place = Place::warm();
    let deploy = format!("deploy {RECIPE} --target linux-x86_64");
    place.run(&deploy).expect(0);
    let before = files::tree(&place.out());
    place.run(&format!("{STRICT} --no-roots")).expect(0);
    assert_eq!(place.json("cache stat")["bytes"], 0);
    place.run(&deploy).expect(0);
    assert_eq!(files::tree(&place.out()), before);
}
