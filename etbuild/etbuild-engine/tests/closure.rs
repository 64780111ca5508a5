//! The code version of a stage covers the crates that it depends on, and no other.
#![allow(clippy::disallowed_methods, reason = "tests read files")]

#[path = "../build/closure.rs"]
mod closure;

use closure::Workspace;

const MANIFEST: &str = r#"
[workspace.dependencies]
stage = { path = "etbuild/stage" }
graph = { path = "etbuild/graph" }
command = { path = "etbuild/command" }
digest = "1.0"
progress = "1.0"
"#;

const LOCK: &str = r#"
[[package]]
name = "digest"
version = "1.0.0"
source = "registry"
checksum = "aa"
dependencies = [
 "words 2.0.0",
]

[[package]]
name = "progress"
version = "1.0.0"
source = "registry"
checksum = "bb"

[[package]]
name = "stage"
version = "0.1.0"
dependencies = [
 "graph",
 "progress",
]

[[package]]
name = "words"
version = "1.0.0"
source = "registry"
checksum = "cc"

[[package]]
name = "words"
version = "2.0.0"
source = "registry"
checksum = "dd"
"#;

fn workspace(lock: &str) -> Workspace {
    Workspace::read(&|path| {
        match path {
        "Cargo.toml" => MANIFEST.to_owned(),
        "Cargo.lock" => lock.to_owned(),
        "etbuild/stage/Cargo.toml" => {
            "[package]\nname = \"stage\"\n[dependencies]\ngraph.workspace = true\n\n[dev-dependencies]\nprogress.workspace = true\n"
                .to_owned()
        }
        "etbuild/graph/Cargo.toml" => "[dependencies]\ndigest = { workspace = true }\n[lints]\nworkspace = true\n".to_owned(),
        _ => "[dependencies]\nprogress.workspace = true\n".to_owned(),
    }
    })
}

#[test]
fn a_stage_covers_the_crates_behind_its_own() {
    let closure = workspace(LOCK).closure(&["stage"]);
    assert_eq!(Vec::from_iter(&closure.folders), ["etbuild/graph", "etbuild/stage"]);
    assert_eq!(closure.locked, "digest 1.0.0 aa\nwords 2.0.0 dd\n");
}

#[test]
fn another_version_of_a_crate_that_is_not_behind_a_stage_leaves_it_alone() {
    let locked = |lock: &str| workspace(lock).closure(&["stage"]).locked;
    let bumped = |checksum: &str, other: &str| LOCK.replace(&format!("\"{checksum}\""), &format!("\"{other}\""));
    assert_eq!(locked(&bumped("bb", "ff")), locked(LOCK));
    assert_eq!(locked(&bumped("cc", "ff")), locked(LOCK));
    assert_ne!(locked(&bumped("dd", "ff")), locked(LOCK));
}

/// The real workspace: the crates that `widen` and the quantizers need are covered, and progress bars are not.
#[test]
fn the_stages_of_this_workspace_leave_progress_bars_out() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let closure = Workspace::read(&read).closure(&["etbuild-quantize"]);
    for folder in ["etbuild/etbuild-quantize", "etbuild/etbuild-ir", "kernel-library/et-ops", "runtime/et-core"] {
        assert!(closure.folders.contains(folder), "{folder}");
    }
    assert!(closure.locked.lines().any(|line| line.starts_with("blake3 ")));
    assert!(!closure.locked.contains("indicatif") && !closure.locked.contains("tonic"));
}
