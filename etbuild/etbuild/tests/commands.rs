//! The commands besides `deploy`: output and exit status.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{self, ETBUILD, MODEL, Place, RECIPE, Ran, repository, warm_out};

/// The names of the files in `targets/`.
fn shipped() -> Vec<String> {
    let files = fs::read_dir(repository().join("targets")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let mut names: Vec<_> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn targets_are_listed_and_shown() {
    let place = Place::cold();
    let list = place.run("targets list").expect(0).stdout;
    let names: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, shipped());
    let shown = place.run("targets show mps2-an505").expect(0).stdout;
    assert!(shown.lines().any(|line| line == "rust.triple: thumbv8m.main-none-eabi"), "{shown}");
    assert_eq!(place.json("targets show pico2")["name"], "pico2");
    let ran = place.run("targets show pico3").expect(3);
    assert!(ran.stderr.contains("error[ETB0203]") && ran.stderr.contains("did you mean `pico`?"), "{}", ran.stderr);
}

#[test]
fn a_model_becomes_a_program_file_without_a_binary() {
    let place = Place::cold();
    let [program, from_program, from_model] =
        ["digits.pte", "a.safetensors", "b.safetensors"].map(|name| place.path().join(name));
    let result = place.json(&format!("compile {MODEL} --program {}", program.display()));
    assert_eq!(result["size"], fs::metadata(&program).unwrap().len());
    for (model, outputs) in [(program.as_path(), &from_program), (MODEL.as_ref(), &from_model)] {
        let inputs = "examples/digits/test.safetensors";
        place.run(&format!("run {} --inputs {inputs} --outputs {}", model.display(), outputs.display())).expect(0);
    }
    assert_eq!(fs::read(&from_program).unwrap(), fs::read(&from_model).unwrap());
    let quantized = format!(
        "--quantize int8 --calibrate examples/digits/calibration.safetensors --outputs {}",
        from_model.display()
    );
    place.run(&format!("run {MODEL} --inputs examples/digits/test.safetensors {quantized}")).expect(0);
    assert_ne!(fs::read(&from_program).unwrap(), fs::read(&from_model).unwrap());
    let ran = place
        .run(&format!("run {} --quantize int8 --inputs examples/digits/test.safetensors", program.display()))
        .expect(2);
    assert!(ran.stderr.contains("are fixed: `quantize.scheme=int8`"), "{}", ran.stderr);
    assert!(!place.out().exists());
    let ran = place.run(&format!("compile {MODEL} {RECIPE}")).expect(2);
    assert!(ran.stderr.contains("from one model"), "{}", ran.stderr);
    let ran = place.run(&format!("compile {MODEL} --target pico")).expect(2);
    assert!(
        ran.stderr.contains("not for `pico`") && ran.stderr.contains("etbuild build --target pico"),
        "{}",
        ran.stderr
    );
}

#[test]
fn every_result_in_json_has_a_schema_and_says_whether_the_command_succeeded() {
    let place = Place::cold();
    let (program, recipe, pages) = ("digits.pte", "r.yaml", "pages");
    let [program, recipe, pages] = [program, recipe, pages].map(|name| place.path().join(name).display().to_string());
    place.run(&format!("compile {MODEL} --program {program}")).expect(0);
    for (words, schema) in [
        ("doctor".to_owned(), "doctor"),
        ("targets list".to_owned(), "targets"),
        ("targets show pico2".to_owned(), "target"),
        ("cache stat".to_owned(), "cache"),
        ("cache verify".to_owned(), "cache-verify"),
        ("cache gc".to_owned(), "cache-gc"),
        ("cache clear".to_owned(), "cache-clear"),
        (format!("init {MODEL} --recipe {recipe}"), "init"),
        (format!("man {pages}"), "man"),
        (format!("inspect {program}"), "inspect"),
        (format!("inspect {program} {program}"), "difference"),
        (format!("delta {program} {program} -o {pages}/update.etd"), "delta"),
        (format!("apply {program} --update {pages}/update.etd"), "apply"),
    ] {
        let result = place.json(&words);
        let schema = format!("etbuild.{schema}/1");
        assert_eq!((&result["schema"], &result["ok"]), (&schema.into(), &true.into()), "{words}: {result}");
    }
}

#[test]
fn the_printed_schema_is_the_committed_one() {
    let place = Place::cold();
    for (of, file) in [("recipe", "recipes/schema.json"), ("target", "targets/schema.json")] {
        let printed: Value = place.run(&format!("schema {of}")).expect(0).json();
        let committed: Value = serde_json::from_slice(&fs::read(repository().join(file)).unwrap()).unwrap();
        assert_eq!(printed, committed);
    }
}

#[test]
fn the_doctor_checks_every_target_and_succeeds() {
    let result = Place::cold().json("doctor");
    let targets = result["targets"].as_array().unwrap();
    assert_eq!(targets.len(), shipped().len());
    assert!(targets.iter().any(|target| target["target"] == "linux-x86_64" && target["runner"] == "this machine"));
    assert!(targets.iter().all(|target| target["toolchain"].as_str().unwrap().starts_with("rustc 1.")), "{result}");
    let linker =
        |wanted: &str| targets.iter().find(|target| target["target"] == wanted).unwrap()["toolchain"].to_string();
    assert!(linker("android-arm64").contains("without an NDK for API level 26"), "{result}");
}

#[test]
fn a_first_recipe_passes_the_check() {
    let mut place = Place::cold();
    fs::copy(repository().join(MODEL), place.path().join("digits.pt2")).unwrap();
    place.root = place.path().to_owned();
    place.run("init digits.pt2").expect(0);
    assert_eq!(place.json("check digits.yaml")["units"], serde_json::json!(["digits@linux-x86_64"]));
    let ran = place.run("init digits.pt2").expect(1);
    assert!(ran.stderr.contains("error[ETB0604]: `digits.yaml` already exists"), "{}", ran.stderr);
}

#[test]
fn a_first_recipe_is_named_after_every_kind_of_model() {
    let Some(python) = support::python::with("torch") else { return };
    let mut place = Place::cold();
    place.file("small.py", "import torch\n\ndef make():\n    return torch.nn.ReLU(), (torch.zeros(3),)\n");
    std::os::unix::fs::symlink(repository().join("examples/tiny-llama/model"), place.path().join("Tiny-0.6B")).unwrap();
    place.root = place.path().to_owned();
    let interpreter = format!("--set export.interpreter={}", python.display());
    let models =
        [("Tiny-0.6B", "Tiny-0.6B", "8da4w", ""), ("small.py:make", "small", "interpreter", interpreter.as_str())];
    for (model, name, key, setting) in models {
        place.run(&format!("init {model}")).expect(0);
        let recipe = fs::read_to_string(place.path().join(format!("{name}.yaml"))).unwrap();
        assert!(recipe.contains(&format!("\"{model}\"")) && recipe.contains(key), "{recipe}");
        assert_eq!(
            place.json(&format!("check {name}.yaml {setting}"))["units"],
            serde_json::json!([format!("{name}@linux-x86_64")])
        );
    }
}

#[test]
fn a_target_is_made_from_a_triple() {
    let mut place = Place::cold();
    fs::copy(repository().join(MODEL), place.path().join("digits.pt2")).unwrap();
    place.root = place.path().to_owned();
    for triple in ["thumbv7em-none-eabihf", "riscv32imc-unknown-none-elf", "aarch64-linux-android"] {
        place.run(&format!("init target my-{triple} --triple {triple}")).expect(0);
        let shown = place.json(&format!("targets show targets/my-{triple}.yaml"));
        assert_eq!((&shown["rust"]["triple"], &shown["run"]), (&triple.into(), &"none".into()));
        place.run(&format!("check digits.pt2 --target my-{triple}")).expect(0);
    }
    place.run("init target thumbv6m-none-eabi").expect(0);
    let ran = place.run("init target thumbv6m-none-eabi").expect(1);
    assert!(ran.stderr.contains("already exists"), "{}", ran.stderr);
}

#[test]
fn a_program_file_is_described() {
    let place = Place::cold();
    let file = warm_out().join("digits/pico2/digits.pte");
    let described = place.json(&format!("inspect {}", file.display()));
    assert_eq!(described["producer"], concat!("etbuild ", env!("CARGO_PKG_VERSION")));
    let method = &described["methods"][0];
    assert_eq!((&method["name"], &method["inputs"][0]["type"]), (&"forward".into(), &"float32[1, 1, 8, 8]".into()));
    assert_eq!(method["operators"]["aten::convolution.out"], 2);
    let ran = place.run("inspect README.md").expect(8);
    assert!(ran.stderr.contains("error[ETB0707]"), "{}", ran.stderr);
    place.run("inspect no-such-file.pte").expect(3);
}

#[test]
fn a_code_is_explained() {
    let place = Place::cold();
    let text = place.run("explain ETB0107").expect(0).stdout;
    assert!(
        text.starts_with("ETB0107: unknown key\n") && text.contains("\nFix: ") && text.contains("Exit status: 3"),
        "{text}"
    );
    assert_eq!(place.json("explain etb0404")["exit_code"], 4);
    let ran = place.run(&format!("explain {RECIPE} linc")).expect(2);
    assert!(ran.stderr.contains("unknown stage `linc`"), "{}", ran.stderr);
}

#[test]
fn completions_name_the_commands() {
    let script = Place::cold().run("completions bash").expect(0).stdout;
    for command in ["deploy", "explain", "cache"] {
        assert!(script.contains(command));
    }
}

#[test]
fn a_wrong_command_line_is_status_2_with_a_message() {
    let place = Place::cold();
    for words in [
        "frobnicate",
        "deploy",
        "deploy a.yaml --no-such-option",
        "check a.yaml --set novalue",
        "-C /no/such/folder doctor",
    ] {
        let ran = place.run(words).expect(2);
        assert!(ran.stderr.contains("error"), "`{words}` said: {}", ran.stderr);
    }
    assert!(place.run("frobnicate").stderr.contains("unrecognized subcommand"));
}

#[test]
fn help_and_version_are_results() {
    assert_eq!(
        Ran::of(Command::new(ETBUILD).arg("--version")).expect(0).stdout,
        concat!("etbuild ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert!(Ran::of(Command::new(ETBUILD).arg("--help")).expect(0).stdout.contains("deploy"));
}

#[test]
fn options_of_the_remote_cache_are_in_the_long_help_only() {
    let help = |flag: &str| Ran::of(Command::new(ETBUILD).args(["deploy", flag])).expect(0).stdout;
    assert!(help("--help").contains("Remote cache:") && help("--help").contains("--remote-execute-timeout"));
    assert!(!help("-h").contains("--remote") && help("-h").contains("--output"));
}

#[test]
fn a_closed_output_pipe_is_not_a_failure() {
    let place = Place::cold();
    for words in ["schema recipe", "completions bash", "targets list"] {
        let mut child = place.command(words.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]), "{words}");
    }
}

#[test]
fn the_cache_is_counted_and_cleared() {
    let place = Place::warm();
    let counted = place.json("cache stat");
    assert!(counted["blobs"].as_u64().unwrap() > 20 && counted["records"].as_u64().unwrap() > 10, "{counted}");
    assert_eq!(place.json("cache verify")["ok"], true);
    let plan = || support::not_cached(&place.json(&format!("plan {RECIPE}")), "linux-x86_64");
    let collected = place.json("cache gc --max-size 1GiB");
    assert_eq!((&collected["removed_blobs"], plan().len()), (&0.into(), 0));
    place.run("cache gc --max-size much").expect(2);
}

#[test]
fn a_cleared_cache_is_empty_and_works() {
    let place = Place::cold();
    let outputs = place.path().join("outputs.safetensors");
    let run = format!("run {MODEL} --inputs examples/digits/test.safetensors --outputs {}", outputs.display());
    place.run(&run).expect(0);
    place.run("cache clear").expect(0);
    let counted = place.json("cache stat");
    assert_eq!((&counted["blobs"], &counted["records"]), (&0.into(), &0.into()));
    place.run(&run).expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_a_full_disk_did_not_take_is_a_failure() {
    let place = Place::cold();
    let inputs = "examples/digits/test.safetensors";
    for words in ["schema recipe".to_owned(), format!("run {MODEL} --inputs {inputs} --top-k 1 --output json")] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = place.command(words.split(' ')).stdout(full).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(1) && told.contains("error[ETB0603]: `standard output`"), "{words}: {told}");
    }
}

#[test]
fn arguments_that_a_run_does_not_read_are_refused() {
    let place = Place::cold();
    let scalars = place.file("scalars.json", r#"{"n": 4}"#);
    let (scalars, out) = (scalars.display(), place.path().join("out.npz"));
    let (inputs, out) = ("--inputs examples/digits/test.safetensors", out.display());
    for (words, status, told) in [
        (format!("run {MODEL} {inputs} --top-k 1 --scalars {scalars}"), 3, "error[ETB0706]: `n` is no input"),
        (format!("run {MODEL} {inputs} --outputs {out}"), 1, "name it `.safetensors`"),
        (format!("run {MODEL} --top-k 1"), 3, "given are: none"),
        (format!("run {MODEL} {inputs} --prompt x"), 2, "`--inputs` and `--outputs` are for tensors"),
    ] {
        let ran = place.run(&words).expect(status);
        assert!(ran.stderr.contains(told), "{words}: {}", ran.stderr);
    }
}
