//! A device runs the old or the new version, whatever access to the disk fails or is the last before a loss of power.

use std::collections::BTreeMap;

use super::support::deltas::{Files, delta, open};
use super::support::disk::{Fault, ModelDisk};
use et_update::{Applied, Error, Place, Recovery, Trial, apply, begin_trial, confirm, end_trial, recover, rollback};

const OLD: &Files =
    &[("app", b"binary one"), ("app.pte", b"weights one"), ("app.ptd", b"adapter"), ("same.ptd", b"same")];
const NEW: &Files =
    &[("app", b"binary two"), ("app.pte", b"weights two and more"), ("more.ptd", b"more"), ("same.ptd", b"same")];

fn place() -> Place {
    Place::folder("/app".as_ref(), "app")
}

fn map(files: &Files) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect()
}

fn update(disk: &ModelDisk) -> Result<Applied, Error> {
    apply(disk, &place(), open(&delta("app", OLD, NEW, None))?, None)
}

/// Whether the folder is one of both versions; the names are those of the versions.
fn is_whole(disk: &ModelDisk) -> bool {
    [OLD, NEW].iter().any(|version| disk.files() == map(version))
}

/// Does `act` on disks that lose power at every access, and checks every disk that may be left once a start has completed the switch.
fn cut_at_every_access(disk: &ModelDisk, act: impl Fn(&ModelDisk), check: impl Fn(&ModelDisk)) {
    let whole = disk.failing(Fault::Never);
    act(&whole);
    assert!(whole.accesses() > 3);
    for number in 1..=whole.accesses() + 1 {
        let cut = disk.failing(Fault::From(number));
        act(&cut);
        for left in cut.after_power_cut() {
            // The power fails during the recovery as well.
            for again in 1.. {
                let second = left.failing(Fault::From(again));
                let done = recover(&second, &place()).is_ok();
                for last in second.after_power_cut() {
                    recover(&last, &place()).unwrap();
                    assert!(is_whole(&last), "access {number}, then {again}: {:?}", last.files());
                }
                if done {
                    break;
                }
            }
            recover(&left, &place()).unwrap();
            check(&left);
        }
    }
}

#[test]
fn a_cut_update_leaves_a_version_and_can_be_repeated() {
    for disk in [ModelDisk::with(OLD), ModelDisk::with(OLD).without_links()] {
        cut_at_every_access(
            &disk,
            |disk| drop(update(disk)),
            |left| {
                update(left).unwrap();
                assert_eq!(left.files(), map(NEW));
                rollback(left, &place()).unwrap();
                assert_eq!(left.files(), map(OLD));
            },
        );
    }
}

#[test]
fn a_cut_rollback_leaves_a_version() {
    let disk = ModelDisk::with(OLD);
    update(&disk).unwrap();
    cut_at_every_access(
        &disk,
        |disk| drop(rollback(disk, &place())),
        |left| {
            update(left).unwrap();
            assert_eq!(left.files(), map(NEW));
        },
    );
}

#[test]
fn a_cut_rollback_is_completed_by_the_next() {
    let updated = ModelDisk::with(OLD);
    update(&updated).unwrap();
    let whole = updated.failing(Fault::Never);
    rollback(&whole, &place()).unwrap();
    for number in 1..=whole.accesses() {
        let cut = updated.failing(Fault::From(number));
        rollback(&cut, &place()).unwrap_err();
        let left = cut.failing(Fault::Never);
        let has_record = left.paths().iter().any(|path| path.ends_with("record"));
        assert_eq!(rollback(&left, &place()).is_ok(), has_record, "{number}");
        assert_eq!(left.files(), map(OLD), "{number}");
    }
}

#[test]
fn a_cut_update_of_an_updated_version_leaves_a_version() {
    let disk = ModelDisk::with(OLD);
    update(&disk).unwrap();
    let back = |disk: &ModelDisk| apply(disk, &place(), open(&delta("app", NEW, OLD, None)).unwrap(), None);
    cut_at_every_access(
        &disk,
        |disk| drop(back(disk)),
        |left| {
            back(left).unwrap();
            assert_eq!(left.files(), map(OLD));
            rollback(left, &place()).unwrap();
            assert_eq!(left.files(), map(NEW));
        },
    );
}

#[test]
fn a_cut_confirmation_leaves_the_new_version() {
    let disk = ModelDisk::with(OLD);
    update(&disk).unwrap();
    let act = |disk: &ModelDisk| drop(confirm(disk, &place()));
    cut_at_every_access(&disk, act, |left| assert_eq!(left.files(), map(NEW)));
}

#[test]
fn a_failed_access_leaves_a_version_and_the_update_can_be_repeated() {
    let disk = ModelDisk::with(OLD);
    let whole = disk.failing(Fault::Never);
    update(&whole).unwrap();
    for number in 1..=whole.accesses() {
        let failing = disk.failing(Fault::Once(number));
        let done = update(&failing);
        assert!(done.is_ok() || recover(&failing, &place()).is_ok(), "{number}");
        assert!(is_whole(&failing), "{number}");
        update(&failing).unwrap();
        assert_eq!(failing.files(), map(NEW), "{number}");
    }
}

#[test]
fn a_version_that_never_succeeds_gives_way_to_the_earlier_version() {
    let disk = ModelDisk::with(OLD);
    assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::None);
    update(&disk).unwrap();
    for _ in 0..et_update::STARTS_MOST {
        assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::Counted);
        assert_eq!(disk.files(), map(NEW));
    }
    assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::RolledBack);
    assert_eq!(disk.files(), map(OLD));
    assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::None);
}

#[test]
fn a_version_that_succeeds_stays_and_can_still_be_rolled_back() {
    let disk = ModelDisk::with(OLD);
    update(&disk).unwrap();
    begin_trial(&disk, &place()).unwrap();
    end_trial(&disk, &place()).unwrap();
    for _ in 0..5 {
        assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::None);
    }
    rollback(&disk, &place()).unwrap();
    assert_eq!(disk.files(), map(OLD));
}

#[test]
fn a_user_who_may_not_write_runs_the_new_version() {
    let disk = ModelDisk::with(OLD);
    update(&disk).unwrap();
    for _ in 0..et_update::STARTS_MOST + 1 {
        assert_eq!(begin_trial(&disk.read_only(), &place()).unwrap(), Trial::None);
    }
    assert_eq!(begin_trial(&disk, &place()).unwrap(), Trial::Counted);
    end_trial(&disk, &place()).unwrap();
    assert_eq!(begin_trial(&disk.read_only(), &place()).unwrap(), Trial::None);
    assert_eq!(disk.files(), map(NEW));
}

/// The disks that an update leaves that was cut at each access.
fn after_cut_updates() -> impl Iterator<Item = ModelDisk> {
    let disk = ModelDisk::with(OLD);
    let whole = disk.failing(Fault::Never);
    update(&whole).unwrap();
    (1..=whole.accesses()).map(move |number| {
        let cut = disk.failing(Fault::From(number));
        let _ = update(&cut);
        cut.failing(Fault::Never)
    })
}

#[test]
fn a_user_who_may_not_write_runs_no_mix_of_versions() {
    let starts = after_cut_updates().zip(1..).map(|(left, number)| {
        let left = left.read_only();
        let trial = begin_trial(&left, &place());
        assert!(trial.is_err() || is_whole(&left), "{number}");
        trial
    });
    assert!(starts.filter(Result::is_err).count() > 3);
}

#[test]
fn a_start_completes_a_switch_and_says_so() {
    let starts = after_cut_updates().map(|left| {
        let trial = begin_trial(&left, &place()).unwrap();
        assert!(is_whole(&left));
        trial
    });
    assert!(starts.filter(|trial| *trial == Trial::Switched).count() > 3);
}

#[test]
fn a_confirmed_version_keeps_no_earlier_version() {
    let disk = ModelDisk::with(OLD);
    assert!(matches!(confirm(&disk, &place()), Err(Error::NoEarlierVersion)));
    update(&disk).unwrap();
    confirm(&disk, &place()).unwrap();
    assert!(matches!(rollback(&disk, &place()), Err(Error::NoEarlierVersion)));
    assert_eq!(disk.files(), map(NEW));
    assert!(disk.paths().iter().all(|path| !path.ends_with("old") && !path.ends_with("new")));
    assert_eq!(recover(&disk, &place()).unwrap(), Recovery::None);
}
