//! Remote execution of compilation and linking on `buildbox-casd`, whose workers run jobs in sandboxes. Needs `bwrap`
//! besides the server.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::casd::Casd;
use crate::support::proxy::Proxy;
use crate::support::{EMULATED, Place, RECIPE, files, stages};

/// A recipe whose binary reads text, by crates of a registry.
const TALKER: &str = "recipes/tiny-llama.yaml";

const TARGET: &str = "linux-x86_64";

/// The folder of Rust; the server's workers find Rust at the same path.
fn toolchain() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// A server whose workers have this machine's Rust.
fn server() -> Option<Casd> {
    Casd::start_with_workers(&[&toolchain()])
}

/// A deploy whose compiling is done by workers, which find Rust on this path.
fn words(url: &str, path: &str, targets: &[&str]) -> String {
    let targets: String = targets.iter().map(|target| format!(" --target {target}")).collect();
    format!("deploy {RECIPE}{targets} --remote {url} --remote-execute --remote-variable PATH={path}:/usr/bin:/bin")
}

fn path() -> String {
    toolchain().join("bin").display().to_string()
}

fn warnings(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("warning: the remote cache")).collect()
}

/// The results of a deploy on a machine without remote execution.
fn made_here(targets: &[&str]) -> Place {
    let place = Place::warm();
    let targets: String = targets.iter().map(|target| format!(" --target {target}")).collect();
    place.run(&format!("deploy {RECIPE}{targets}")).expect(0);
    place
}

fn by_workers(result: &Value, target: &str) -> Vec<String> {
    stages(result, target, |row| row["worker"] == true)
}

#[test]
fn workers_link_the_same_bytes() {
    let Some(casd) = server() else { return };
    let place = Place::cold();
    let result = place.json(&words(&casd.url(), &path(), &EMULATED));
    for target in EMULATED {
        assert_eq!(by_workers(&result, target), ["link"], "{result}");
    }
    assert_eq!(files::tree(&place.out()), files::tree(&made_here(&EMULATED).out()));
    let compiled: Vec<_> = std::fs::read_dir(place.cache().join("v1/scratch")).unwrap().flatten().collect();
    assert_eq!(compiled.iter().map(DirEntry::file_name).collect::<Vec<_>>(), ["metadata"], "nothing was compiled here");
    let other = Place::cold();
    let result = other.json(&words(&casd.url(), &path(), &EMULATED));
    for target in EMULATED {
        assert_eq!(stages(&result, target, |row| row["fetched"] != true && row["cached"] != true), [""; 0]);
    }
}

#[test]
fn a_binary_with_a_tokenizer_compiles_from_uploaded_crates() {
    let Some(casd) = server() else { return };
    let deploy = format!("deploy {TALKER} --target {TARGET}");
    let workers = format!("--remote {} --remote-execute --remote-variable PATH={}:/usr/bin:/bin", casd.url(), path());
    let place = Place::cold();
    let result = place.json(&format!("{deploy} {workers}"));
    assert_eq!(by_workers(&result, TARGET), ["link"], "{result}");
    let here = Place::warm();
    here.run(&deploy).expect(0);
    assert_eq!(files::tree(&place.out()), files::tree(&here.out()));
}

/// A deploy that workers are to compile for, and that is compiled here.
fn falls_back(url: &str, path: &str, why: &str) {
    let place = Place::cold_with_compiled_crates();
    let ran = place.run(&words(url, path, &[TARGET])).expect(0);
    assert_eq!(warnings(&ran.stderr).len(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    assert!(!ran.stderr.contains("by a worker"), "{}", ran.stderr);
    assert_eq!(files::tree(&place.out()), files::tree(&made_here(&[TARGET]).out()));
}

#[test]
fn without_matching_workers_the_link_runs_locally() {
    let (Some(alone), Some(casd)) = (Casd::start(), server()) else { return };
    falls_back(&alone.url(), &path(), "the server has no execution service; stages run locally");
    falls_back(&casd.url(), "/nowhere", "a worker has no Rust; stages run locally");
    let other = tempfile::tempdir().unwrap();
    falls_back(&casd_with_another_rust(other.path()).url(), &other.path().display().to_string(), "rustc 1.0.0");
}

/// A server whose workers have a Rust of long ago.
fn casd_with_another_rust(folder: &Path) -> Casd {
    let script = format!("#!/bin/sh\ncase $1 in --print) echo {0} ;; *) echo rustc 1.0.0 ;; esac\n", folder.display());
    for file in [folder.join("rustc"), folder.join("bin/rustc")] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &script).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    Casd::start_with_workers(&[folder]).unwrap()
}

#[test]
fn a_required_server_without_workers_is_status_7() {
    let Some(casd) = Casd::start() else { return };
    let place = Place::cold_with_compiled_crates();
    let ran = place.run(&format!("{} --remote-mode required", words(&casd.url(), &path(), &[TARGET]))).expect(7);
    assert!(ran.stderr.contains("error[ETB0607]") && ran.stderr.contains("no execution service"), "{}", ran.stderr);
    place.run(&format!("{} --remote-mode read", words(&casd.url(), &path(), &[TARGET]))).expect(2);
}

#[test]
fn a_server_lost_during_a_build_costs_one_warning() {
    let Some(casd) = server() else { return };
    // The job itself is larger than the messages before the job.
    let half = Proxy::to(&casd.address(), 3 << 18);
    falls_back(&half.url(), &path(), "continuing without the remote cache");
}
