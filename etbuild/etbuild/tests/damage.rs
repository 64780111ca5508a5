//! Damaged, missing and unwritable files: etbuild detects, reports and rebuilds these files, or fails with a clear
//! error.

use std::fs;
use std::process::Command;

use crate::support::{ETBUILD, MODEL, Place, RECIPE, Ran, files, not_cached, warm_out};

const INPUTS: &str = "examples/digits/test.safetensors";

/// A place with a warm cache of a target, so that a second deploy reads every blob.
fn deployed() -> (Place, String) {
    let place = Place::cold_with_compiled_crates();
    let words = format!("deploy {RECIPE} --target linux-x86_64");
    place.run(&words).expect(0);
    (place, words)
}

#[test]
fn a_flipped_bit_in_any_blob_is_detected_reported_and_repaired() {
    let (place, words) = deployed();
    let (results, blobs) = (files::tree(&place.out()), files::paths(&place.cache().join("v1/cas")));
    assert!(blobs.len() >= 12, "{blobs:?}");
    for (number, blob) in blobs.iter().enumerate() {
        let sound = fs::read(blob).unwrap();
        files::change(blob, |bytes| {
            let at = bytes.len() * (number + 1) / (blobs.len() + 1);
            bytes[at] ^= 1 << (number % 8);
        });
        let ran = place.run(&words).expect(0);
        assert!(ran.stderr.contains("was damaged"), "{}: {}", blob.display(), ran.stderr);
        assert_eq!(files::tree(&place.out()), results, "{}", blob.display());
        assert_eq!(fs::read(blob).unwrap(), sound);
        assert_eq!(place.json("cache verify")["ok"], true);
        assert_eq!(place.run(&words).expect(0).stderr, "");
    }
}

#[test]
fn cache_verify_finds_damage_before_use() {
    let place = Place::warm();
    let blob = &files::paths(&place.cache().join("v1/cas"))[0];
    files::change(blob, |bytes| bytes[0] ^= 1);
    let ran = place.run("cache verify").expect(1);
    assert!(ran.stderr.contains("error[ETB0602]") && ran.stderr.contains("moved to quarantine"), "{}", ran.stderr);
    assert!(!blob.exists());
    place.run("cache verify");
    assert_eq!(place.json("cache verify")["ok"], true, "what was found has been dealt with");
    place.run(&format!("deploy {RECIPE}")).expect(0);
    assert_eq!(files::tree(&place.out()), files::tree(&warm_out()));
}

#[test]
fn damaged_records_are_found_and_their_stages_run_again() {
    let place = Place::cold();
    let outputs = place.path().join("outputs.safetensors");
    let words = format!("run {MODEL} --inputs {INPUTS} --outputs {}", outputs.display());
    place.run(&words).expect(0);
    let expected = fs::read(&outputs).unwrap();
    for record in files::paths(&place.cache().join("v1/ac")) {
        for damage in [cut, empty, garble] {
            files::change(&record, damage);
            let ran = place.run(&words).expect(0);
            assert!(ran.stderr.contains("its cache record was damaged"), "{}", ran.stderr);
            assert_eq!(fs::read(&outputs).unwrap(), expected);
        }
    }
    assert_eq!(place.json("cache verify")["ok"], true);
}

fn cut(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
}

fn empty(bytes: &mut Vec<u8>) {
    bytes.clear();
}

fn garble(bytes: &mut Vec<u8>) {
    let middle = bytes.len() / 2;
    bytes.swap_remove(middle);
}

#[test]
fn missing_blobs_are_recomputed() {
    let place = Place::warm();
    let outputs = place.path().join("outputs.safetensors");
    let words = format!("run {MODEL} --inputs {INPUTS} --outputs {}", outputs.display());
    place.run(&words).expect(0);
    let expected = fs::read(&outputs).unwrap();
    fs::remove_dir_all(place.cache().join("v1/cas")).unwrap();
    place.run(&words).expect(0);
    assert_eq!(fs::read(&outputs).unwrap(), expected);
}

#[test]
fn results_that_were_edited_or_deleted_are_restored() {
    let place = Place::warm();
    let words = format!("deploy {RECIPE} --target mps2-an505");
    place.run(&words).expect(0);
    let written = files::tree(&place.out());
    for name in written.keys() {
        let path = place.out().join(name);
        files::change(&path, |bytes| bytes[0] ^= 1);
        assert_eq!(not_cached(&place.json(&words), "mps2-an505"), [""; 0]);
        assert_eq!(files::tree(&place.out()), written, "edited {}", name.display());
        fs::remove_file(&path).unwrap();
        place.run(&words).expect(0);
        assert_eq!(files::tree(&place.out()), written, "deleted {}", name.display());
    }
    fs::remove_dir_all(place.out()).unwrap();
    place.run(&words).expect(0);
    assert_eq!(files::tree(&place.out()), written);
}

#[test]
fn a_result_that_is_edited_leaves_the_cache_alone() {
    let place = Place::warm();
    let words = format!("deploy {RECIPE} --target linux-x86_64");
    place.run(&words).expect(0);
    let path = place.out().join("digits/linux-x86_64/digits.pte");
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, b"scribble").unwrap();
    assert_eq!(place.json("cache verify")["ok"], true);
}

/// Runs the command with a limit on file sizes, in blocks of 512 bytes: the kernel interrupts a write half way, as a
/// full disk does.
fn with_room_for(blocks: u32, place: &Place, words: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh", ETBUILD]);
    command.args(words.split_whitespace()).current_dir(&place.root);
    place.surround(&mut command);
    Ran::of(&mut command)
}

#[test]
fn a_full_disk_is_a_clear_error_and_later_there_is_room_again() {
    let place = Place::cold();
    let outputs = place.path().join("outputs.safetensors");
    let words = format!("run {MODEL} --inputs {INPUTS} --outputs {}", outputs.display());
    for blocks in [0, 1, 16, 40, 64] {
        let ran = with_room_for(blocks, &place, &words).expect(1);
        assert!(ran.stderr.contains("error[ETB0603]"), "{blocks} blocks: {}", ran.stderr);
        assert!(ran.stderr.contains(place.cache().to_str().unwrap()), "{blocks} blocks: {}", ran.stderr);
        assert!(ran.stderr.contains("help: "), "{blocks} blocks: {}", ran.stderr);
    }
    assert_eq!(place.json("cache verify")["ok"], true);
    place.run(&words).expect(0);
}

#[test]
fn a_full_disk_under_the_results_is_a_clear_error() {
    let place = Place::warm();
    let words = format!("deploy {RECIPE} --target linux-x86_64");
    let ran = with_room_for(100, &place, &words).expect(1);
    assert!(ran.stderr.contains("error[ETB0603]"), "{}", ran.stderr);
    assert!(ran.stderr.contains(place.out().to_str().unwrap()), "{}", ran.stderr);
    place.run(&words).expect(0);
}

#[test]
fn a_cache_that_cannot_be_written_is_a_clear_error() {
    let place = Place::cold();
    // No user can create a folder there.
    let mut command = place.command(["deploy", RECIPE]);
    let ran = Ran::of(command.env("ETBUILD_CACHE_DIR", "/proc/etbuild")).expect(1);
    assert!(ran.stderr.contains("error[ETB0601]") && ran.stderr.contains("/proc/etbuild"), "{}", ran.stderr);
    assert!(ran.stderr.contains("set ETBUILD_CACHE_DIR"), "{}", ran.stderr);
    assert!(!place.out().exists());
}

#[test]
fn results_that_cannot_be_written_are_a_clear_error() {
    let place = Place::warm();
    place.file("out", "a file is in the way");
    let ran = place.run(&format!("deploy {RECIPE} --target linux-x86_64")).expect(1);
    assert!(ran.stderr.contains(place.out().to_str().unwrap()), "{}", ran.stderr);
}
