//! The ten minutes of each kind of user: every script of `examples/journeys` runs, and its page says every command of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{ETBUILD, Place, Ran, python, repository};

/// The scripts, which are called as their pages.
const JOURNEYS: [&str; 5] = ["ci", "firmware", "language", "phone", "vision"];

fn script(name: &str) -> PathBuf {
    repository().join(format!("examples/journeys/{name}.sh"))
}

/// Runs a script in a folder of its own with the command under test on `PATH`, and `ahead` in front of everything.
fn journey(name: &str, argument: &str, ahead: Option<&Path>) -> Place {
    let place = Place::cold_with_compiled_crates();
    let work = place.path().join("work");
    fs::create_dir(&work).unwrap();
    let folders = ahead.into_iter().chain([Path::new(ETBUILD).parent().unwrap()]).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new("bash");
    command.arg(script(name)).arg(repository().join(argument)).current_dir(work).env("PATH", path);
    Ran::of(command.env("ETBUILD_CACHE_DIR", place.cache())).expect(0);
    place
}

#[test]
fn a_page_says_every_command_of_its_script() {
    for name in JOURNEYS {
        let page = fs::read_to_string(repository().join(format!("docs/tutorial-{name}.md"))).unwrap();
        let text = fs::read_to_string(script(name)).unwrap();
        let is_step = |line: &&str| ["etbuild ", "out/", "qemu-"].iter().any(|start| line.starts_with(start));
        let steps: Vec<&str> = text.lines().filter(is_step).collect();
        assert!(steps.len() >= 4, "{name}");
        for step in steps {
            assert!(page.lines().any(|line| line == step), "docs/tutorial-{name}.md lacks `{step}`");
        }
    }
}

/// Commands that need a phone.
const UNRUN: &[&str] = &["--device adb"];

#[test]
fn a_script_runs_every_command_of_its_page() {
    for name in JOURNEYS {
        let page = fs::read_to_string(repository().join(format!("docs/tutorial-{name}.md"))).unwrap();
        let text = fs::read_to_string(script(name)).unwrap();
        let is_step = |line: &&str| line.starts_with("etbuild ") && !UNRUN.iter().any(|part| line.contains(part));
        for step in page.split("```").skip(1).step_by(2).flat_map(str::lines).filter(is_step) {
            assert!(text.lines().any(|line| line == step), "examples/journeys/{name}.sh lacks `{step}`");
        }
    }
}

#[test]
fn a_page_names_every_file_that_its_script_takes_from_elsewhere() {
    for name in JOURNEYS {
        let page = fs::read_to_string(repository().join(format!("docs/tutorial-{name}.md"))).unwrap();
        let text = fs::read_to_string(script(name)).unwrap();
        let taken = text.split('"').filter_map(|part| part.strip_prefix("$1/"));
        taken.for_each(|file| assert!(page.contains(file), "docs/tutorial-{name}.md does not name {file}"));
    }
}

#[test]
fn firmware_in_ten_minutes() {
    let place = journey("firmware", "examples/digits", None);
    assert!(place.path().join("work/out/digits/pico2/digits.uf2").is_file());
}

#[test]
fn continuous_integration_in_ten_minutes() {
    let place = journey("ci", "examples/digits", None);
    let result = fs::read_to_string(place.path().join("work/result.json")).unwrap();
    assert!(result.contains("\"ok\":true"), "{result}");
}

#[test]
fn a_phone_in_ten_minutes() {
    let place = journey("phone", "examples/digits", None);
    for file in ["galaxy-s25/libdigits.a", "galaxy-s25/libdigits.so", "android-x86_64/digits"] {
        assert!(place.path().join("work/out/digits").join(file).is_file(), "{file}");
    }
}

#[test]
fn a_language_model_in_ten_minutes() {
    let place = journey("language", "examples/tiny-llama/model", None);
    assert!(place.path().join("work/out/Qwen3-0.6B/linux-x86_64/Qwen3-0.6B.pte").is_file());
}

#[test]
fn vision_in_ten_minutes() {
    let Some(python) = python::with("torch, safetensors and numpy") else { return };
    let place = journey("vision", "examples", Some(python.parent().unwrap()));
    assert!(place.path().join("work/scores.npy").is_file());
}
