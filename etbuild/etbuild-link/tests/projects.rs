//! What templates become.

mod tiny;

use std::collections::BTreeMap;

use cargo_metadata::MetadataCommand;
use etbuild_link::*;
use etbuild_system::{RealSystem, Slots, System};

/// The files of a project that are written from facts, as one text.
fn written(facts: &ProjectFacts, paths: &[&str]) -> String {
    let project = tiny::project(facts);
    let text = |path: &&str| format!("==> {path}\n{}", String::from_utf8_lossy(&project.package[*path]));
    paths.iter().map(text).collect()
}

/// Compares with a file of `tests/golden`; with `ETBUILD_UPDATE_GOLDEN` set, writes it.
fn assert_golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ETBUILD_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default(), "{name}");
}

#[test]
fn a_process_states_its_program_kernels_and_inputs() {
    let embedded = tiny::hosted(Program::Embedded(tiny::PROGRAM.to_vec()));
    let beside = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
    assert_golden("host-app-embedded.txt", &written(&embedded, &["src/kernels.rs", "src/main.rs"]));
    assert_golden("host-app-beside.txt", &written(&beside, &["src/main.rs"]));
}

#[test]
fn a_process_depends_on_the_engines_that_it_calls_only() {
    // Any device crate will do: nothing is compiled here.
    let engine = EngineFacts {
        id: "Engine".to_owned(),
        package: "et-platform".to_owned(),
        features: ["more".to_owned()].into(),
        explains: false,
        reports: false,
    };
    let facts = ProjectFacts { engines: vec![engine], ..tiny::hosted(Program::Beside("tiny.pte".to_owned())) };
    let text = written(&facts, &["Cargo.toml", "src/engines.rs"]);
    assert!(text.contains("[dependencies.et-platform]\nfeatures = [\"more\"]\nworkspace = true"), "{text}");
    assert!(text.contains("make: |host| Box::new(et_platform::delegate(host.workers)),"), "{text}");
    assert!(text.contains("id: \"Engine\",") && text.contains("problem: || None,"), "{text}");
    let without = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
    assert!(!written(&without, &["Cargo.toml"]).contains("dependencies.et-platform"));
}

#[test]
fn a_process_has_decoders_if_its_program_states_preprocessing() {
    let without = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
    let facts = ProjectFacts { media: true, ..without.clone() };
    let text = written(&facts, &["Cargo.toml", "src/main.rs"]);
    assert!(text.contains("dependencies.et-media]") && text.contains("media: Some(et_media::read)"), "{text}");
    let sources = Sources::embedded().unwrap();
    let third_party = |facts: &ProjectFacts| Project::new(facts, &sources).unwrap().third_party;
    assert_eq!([third_party(&without), third_party(&facts)], [false, true]);
}

#[test]
fn a_process_has_the_third_party_crates_of_its_engines() {
    let engine = |package: &str| EngineFacts {
        id: "Engine".to_owned(),
        package: package.to_owned(),
        features: Default::default(),
        explains: package == "et-gpu",
        reports: false,
    };
    let project = |template: &str, engine: EngineFacts| {
        let facts = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
        tiny::project(&ProjectFacts { template: template.to_owned(), engines: vec![engine], ..facts })
    };
    for template in ["host-app", "language-app"] {
        let with = project(template, engine("et-gpu"));
        let declared = String::from_utf8_lossy(&with.package["Cargo.toml"]).contains("[workspace.dependencies.ash]");
        let engines = String::from_utf8_lossy(&with.package["src/engines.rs"]);
        assert!(engines.contains("problem: et_gpu::problem,"), "{template}: {engines}");
        assert!(with.third_party && declared && with.package.contains_key("Cargo.lock"), "{template}");
        let without = project(template, engine("et-cpu"));
        assert!(!without.third_party && !without.package.contains_key("Cargo.lock"), "{template}");
    }
}

#[test]
fn firmware_is_compiled_for_size_or_for_speed() {
    let small = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let mut fast = small.clone();
    fast.board.as_mut().unwrap().speed = true;
    let profile = |facts: &ProjectFacts| written(facts, &["profile.toml"]);
    assert!(profile(&small).contains("opt-level = \"z\"") && profile(&small).contains("opt-level = \"s\""));
    assert!(profile(&fast).contains("opt-level = 3\nlto = \"fat\"") && !profile(&fast).contains("device-kernels"));
}

#[test]
fn firmware_states_its_memory_console_and_cases() {
    let paths = [
        "kernels/src/lib.rs",
        "link.ld",
        "src/board.rs",
        "src/cases.rs",
        "src/facts.rs",
        "src/model.rs",
        "src/plan.rs",
    ];
    let semihosting = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    let serial = tiny::firmware(tiny::pico2_memory(), tiny::uart());
    assert_golden("firmware-semihosting.txt", &written(&semihosting, &paths));
    assert_golden("firmware-uart.txt", &written(&serial, &[&paths[1..], &["src/board/registers.rs"]].concat()));
}

#[test]
fn banks_that_differ_are_all_declared() {
    let mut memory = tiny::mps2_memory();
    memory.constants = Region { name: "external".to_owned(), origin: 0x6000_0000, size: 1 << 20 };
    let script = written(&tiny::firmware(memory, Console::Semihosting), &["link.ld"]);
    assert!(script.contains("external : ORIGIN = 0x60000000, LENGTH = 0x100000"), "{script}");
    assert!(script.contains(".program : { *(.rodata.program) } > external"), "{script}");
}

#[test]
fn these_templates_are_built_by_tests() {
    assert_eq!(template_names(), ["diffusion-app", "firmware", "host-app", "language-app", "prebuilt-app"]);
}

#[test]
fn an_unknown_template_is_an_error() {
    let facts = ProjectFacts { template: "toaster".to_owned(), ..tiny::hosted(Program::Embedded(Vec::new())) };
    let error = Project::new(&facts, &Sources::embedded().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "no template is called `toaster`");
}

#[test]
fn firmware_without_a_board_is_an_error() {
    let facts = ProjectFacts { board: None, ..tiny::firmware(tiny::mps2_memory(), Console::Semihosting) };
    let error = Project::new(&facts, &Sources::embedded().unwrap()).unwrap_err();
    assert!(matches!(error, LinkError::Template(_)), "{error}");
}

#[test]
fn cases_must_fit_the_method() {
    let mut facts = tiny::firmware(tiny::mps2_memory(), Console::Semihosting);
    facts.board.as_mut().unwrap().verify.cases = 7;
    let error = Project::new(&facts, &Sources::embedded().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "7 cases have 112 bytes of inputs, and 128 are given");
}

#[test]
fn cargo_says_which_device_crates_a_project_depends_on() {
    let device = ["et-core", "et-format", "et-ops", "et-platform", "et-runtime", "et-signal"];
    assert_eq!(resolved("firmware", &tiny::cortex_m33(false)), device);
    let process = ["et-core", "et-format", "et-module", "et-ops", "et-runtime", "et-signal"];
    let text_less = ["et-core", "et-format", "et-llm", "et-module", "et-ops", "et-runtime", "et-signal"];
    assert_eq!(resolved("language-app", &tiny::process("x86_64-unknown-linux-gnu", Linker::System)), text_less);
    assert_eq!(resolved("host-app", &tiny::process("x86_64-unknown-linux-gnu", Linker::System)), process);
}

#[test]
fn a_language_model_that_reads_text_has_third_party_crates_of_fixed_versions() {
    let tokens =
        ProjectFacts { template: "language-app".to_owned(), ..tiny::hosted(Program::Beside("tiny.pte".to_owned())) };
    let text = ProjectFacts { text: true, ..tokens.clone() };
    let (tokens, text) = (tiny::project(&tokens), tiny::project(&text));
    assert!(!tokens.third_party && !tokens.package.contains_key("Cargo.lock"));
    assert!(text.third_party && text.crates.contains_key("crates/et-text/src/lib.rs"));
    let lock = String::from_utf8_lossy(&text.package["Cargo.lock"]);
    assert!(lock.contains("name = \"tokenizers\""));
}

#[test]
fn a_language_model_has_the_decoders_of_files_only_if_it_reads_pictures_or_hears() {
    let tiny = tiny::hosted(Program::Beside("tiny.pte".to_owned()));
    let texts = ProjectFacts { template: "language-app".to_owned(), text: true, ..tiny };
    let pictures = ProjectFacts { vision: true, ..texts.clone() };
    let sounds = ProjectFacts { hearing: true, ..texts.clone() };
    let text = |facts: &ProjectFacts| written(facts, &["Cargo.toml", "src/main.rs"]);
    assert!(text(&texts).contains("vision: None") && text(&texts).contains("hearing: None"));
    assert!(!text(&texts).contains("et-media"));
    let hears = text(&sounds);
    assert!(hears.contains("read: et_media::sound") && hears.contains("dependencies.et-hearing]"), "{hears}");
    assert!(hears.contains("dependencies.et-media]") && !hears.contains("dependencies.et-vision]"), "{hears}");
    let text = text(&pictures);
    assert!(text.contains("read: et_media::tiles") && text.contains("dependencies.et-vision]"), "{text}");
}

/// Cargo compiles a crate again for each set of features, and what depends on the crate.
#[test]
fn crates_that_read_text_have_the_same_features_beside_servers_and_pictures() {
    let text = ProjectFacts {
        template: "language-app".to_owned(),
        text: true,
        ..tiny::hosted(Program::Beside("tiny.pte".to_owned()))
    };
    let server = ProjectFacts { server: true, ..text.clone() };
    let constrained = ProjectFacts { constrain: true, ..server.clone() };
    let pictures = ProjectFacts { template: "diffusion-app".to_owned(), ..text.clone() };
    let alone = third_party_features(&text);
    assert!(alone.keys().any(|name| name.starts_with("tokenizers ")));
    let prompts = ProjectFacts { vision: true, ..server.clone() };
    for facts in [server, constrained, pictures, prompts] {
        let beside = third_party_features(&facts);
        let other: Vec<_> = alone.iter().filter(|(name, features)| beside.get(*name) != Some(features)).collect();
        assert!(other.is_empty(), "{other:?} have other features");
    }
}

/// The features of the third-party crates of a project, by name and version.
fn third_party_features(facts: &ProjectFacts) -> BTreeMap<String, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in tiny::project(facts).files() {
        RealSystem::default().write(&folder.path().join(path), bytes, false).unwrap();
    }
    let options = ["--offline", "--filter-platform", "x86_64-unknown-linux-gnu"].map(str::to_owned);
    let metadata = MetadataCommand::new().current_dir(folder.path()).other_options(options).exec().unwrap();
    let nodes = metadata.resolve.unwrap().nodes;
    let packages = metadata.packages.iter().filter(|package| package.source.is_some());
    let features = |package: &cargo_metadata::Package| {
        let node = nodes.iter().find(|node| node.id == package.id)?;
        let features = node.features.iter().map(ToString::to_string).collect();
        Some((format!("{} {}", package.name, package.version), features))
    };
    packages.filter_map(features).collect()
}

/// The names of the device crates that cargo resolves for a template.
fn resolved(template: &str, target: &CompileTarget) -> Vec<String> {
    let system = RealSystem::default();
    let toolchain = toolchain::find(&system, target, true).unwrap();
    let project = Project::skeleton(template, &Sources::embedded().unwrap()).unwrap();
    let workshop = Workshop { folder: tiny::scratch(), offline: true, slots: &Slots::new(1) };
    let found = dependencies(&system, &toolchain, target, &project, &workshop).unwrap();
    assert!(found.iter().all(|dependency| dependency.version == "0.1.0" && dependency.digest.len() == 64));
    found.into_iter().map(|dependency| dependency.package).collect()
}

#[test]
fn templates_have_digests_of_their_own() {
    assert_ne!(template_digest("firmware").unwrap(), template_digest("host-app").unwrap());
}
