//! A recipe with four targets: the builds, runs, files and messages of a deploy.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use etbuild_store::Digest;
use serde_json::Value;

use crate::support::{self, EMULATED, Place, RECIPE, Ran, files, tensors, unit};

const TEST_DATA: &str = "examples/digits/test.safetensors";

#[test]
fn every_emulated_target_equals_pytorch() {
    let result = Place::warm().json(&format!("deploy {RECIPE}"));
    assert_eq!((&result["schema"], &result["ok"]), (&"etbuild.result/1".into(), &true.into()));
    for target in EMULATED {
        let verification = &unit(&result, target)["verification"];
        assert_eq!(verification["state"], "done", "{target}: {verification}");
        assert_eq!(verification["cases"], 360);
        assert_eq!(verification["same_prediction"], 360, "{target}");
        assert!(verification["max_error"].as_f64().unwrap() <= 1e-4, "{target}: {verification}");
        assert!(verification["correct"].as_u64().unwrap() * 100 > 360 * 97, "{target}: {verification}");
    }
}

/// A processor of Armv6-M and one of RISC-V, which start in other ways than the targets of the recipe.
#[test]
fn small_processors_compute_what_pytorch_computed() {
    let place = Place::warm();
    // Software computes floating-point numbers here, so a few cases take their time.
    let data = place.file("test.safetensors", tensors::first_cases(&place.root.join(TEST_DATA), 8));
    let targets = "--target microbit --target riscv-virt";
    let result = place.json(&format!("deploy {RECIPE} {targets} --set verify.inputs={}", data.display()));
    for target in ["microbit", "riscv-virt"] {
        let verification = &unit(&result, target)["verification"];
        assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &8.into()), "{target}: {result}");
        assert_eq!(verification["same_prediction"], 8, "{target}: {verification}");
    }
}

/// An image for the boot ROM of a Pico: the second stage with its checksum, then the vectors.
#[test]
fn a_pico_starts_with_the_second_stage() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --target pico")).expect(0);
    let image = fs::read(place.out().join("digits/pico/digits.uf2")).unwrap();
    let flash = &image[32..32 + 256];
    let word = |at: usize| u32::from_le_bytes(image[32 + at..32 + at + 4].try_into().unwrap());
    let checksum = flash[..252].iter().fold(u32::MAX, |crc, byte| {
        (0..8)
            .fold(crc ^ u32::from(*byte) << 24, |crc, _| if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 })
    });
    assert_eq!(word(252), checksum);
    let next = &image[512 + 32..512 + 40];
    let [stack, reset] = [&next[..4], &next[4..]].map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    assert!((0x2000_0000..=0x2004_2000).contains(&stack) && (0x1000_0100..0x1020_0000).contains(&reset));
}

/// What a target lacks is a sentence, and not the output of a compiler.
#[test]
fn a_target_without_a_linker_is_told() {
    let mut place = Place::cold();
    place.root = place.path().to_owned();
    files::copy(&support::repository().join(support::MODEL), &place.path().join("digits.pt2"));
    place.run("init target phone --triple armv7-linux-androideabi").expect(0);
    let ran = place.run("build digits.pt2 --target phone").expect(1);
    assert!(ran.stderr.contains("error[ETB0501]: `armv7-linux-androideabi26-clang`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("on PATH") && !ran.stderr.contains("ld:"), "{}", ran.stderr);
}

/// A NumPy array in, a NumPy array out: the same numbers as by safetensors, from the command and from the binary.
#[test]
fn numpy_arrays_are_the_one_input_and_the_one_output() {
    let place = Place::warm();
    let bytes = fs::read(place.root.join(TEST_DATA)).unwrap();
    let mut array = Vec::new();
    et_module::npy::write(&tensors::tensor(&bytes, "x"), &mut array).unwrap();
    let array = place.file("x.npy", array);
    let binary = support::warm_out().join("digits/linux-x86_64/digits");
    let (by_command, by_binary) = (place.path().join("command.npy"), place.path().join("binary.npy"));
    let run = format!("run {} --inputs {} --outputs {}", support::MODEL, array.display(), by_command.display());
    place.run(&run).expect(0);
    Ran::of(Command::new(&binary).arg("--inputs").arg(&array).arg("--outputs").arg(&by_binary)).expect(0);
    let (by_command, by_binary) = (fs::read(by_command).unwrap(), fs::read(by_binary).unwrap());
    let outputs = et_module::npy::parse(&by_command).unwrap();
    assert_eq!(outputs.shape, [360, 10]);
    assert_eq!(et_module::npy::parse(&by_binary).unwrap(), outputs);
}

#[test]
fn the_portable_kernels_compute_what_pytorch_computed_on_both_architectures() {
    let targets = "--target linux-x86_64 --target linux-aarch64";
    let result = Place::warm().json(&format!("deploy {RECIPE} --partition portable {targets}"));
    for target in ["linux-x86_64", "linux-aarch64"] {
        let verification = &unit(&result, target)["verification"];
        assert_eq!(verification["state"], "done", "{target}: {verification}");
        assert_eq!(verification["same_prediction"], 360, "{target}: {verification}");
    }
}

#[test]
fn int8_on_the_cpu_backend_keeps_accuracy_on_both_architectures() {
    let quantized = "--quantize int8 --calibrate examples/digits/calibration.safetensors --set verify.tolerance=10";
    let targets = "--target linux-x86_64 --target linux-aarch64";
    let place = Place::warm();
    let [real, engine] = ["portable", "cpu"].map(|partition| {
        let result = place.json(&format!("deploy {RECIPE} --partition {partition} {quantized} {targets}"));
        ["linux-x86_64", "linux-aarch64"].map(|target| unit(&result, target)["verification"].clone())
    });
    for (portable, engine) in real.iter().zip(&engine) {
        assert_eq!(engine["state"], "done", "{engine}");
        // Half a percent of 360 digits.
        assert!(engine["correct"].as_u64().unwrap() + 1 >= portable["correct"].as_u64().unwrap(), "{engine}");
        assert!(engine["same_prediction"].as_u64().unwrap() >= 358, "{engine}");
    }
}

/// Boards compute int8 in integers: the same digits as in float32 between conversions, in less memory.
#[test]
fn int8_on_a_board_runs_on_the_backend_of_microcontrollers() {
    let place = Place::warm();
    let quantized = "--quantize int8 --calibrate examples/digits/calibration.safetensors --set verify.tolerance=10";
    for target in ["mps2-an505", "riscv-virt"] {
        let [portable, backend] = ["portable", "auto"].map(|partition| {
            let result = place.json(&format!("deploy {RECIPE} --partition {partition} {quantized} --target {target}"));
            unit(&result, target).clone()
        });
        let verification = &backend["verification"];
        assert_eq!(verification["state"], "done", "{backend}");
        assert!(verification["same_prediction"].as_u64().unwrap() >= 356, "{verification}");
        assert_eq!(backend["fallback"], Value::Null, "{backend}");
        let arena = |unit: &Value| unit["sizes"]["arena"].as_u64().unwrap();
        assert!(arena(&backend) * 2 < arena(&portable), "{target}: {} {}", arena(&backend), arena(&portable));
    }
}

#[test]
fn a_binary_has_the_backend_features_of_its_scheme() {
    let place = Place::warm();
    for scheme in ["dynamic-int8", "int8-weights", "int4-weights", "8da4w"] {
        let quantized = format!("--quantize {scheme} --set verify.tolerance=10 --target linux-x86_64");
        let result = place.json(&format!("deploy {RECIPE} --partition cpu {quantized}"));
        let verification = &unit(&result, "linux-x86_64")["verification"];
        assert_eq!(verification["state"], "done", "{scheme}: {verification}");
        assert!(verification["same_prediction"].as_u64().unwrap() >= 350, "{scheme}: {verification}");
    }
}

#[test]
fn complex_numbers_between_real_ones_are_linked() {
    let place = Place::warm();
    let result = place.json("deploy etbuild/etbuild/tests/data/spectrum.pt2 --target linux-x86_64 --target pico2");
    assert_eq!(result["ok"], true, "{result}");
}

#[test]
fn nodes_on_portable_kernels_are_told_with_their_share_of_the_work() {
    let place = Place::warm();
    let words = |options: &str| format!("build {RECIPE} {options}");
    let table = |options: &str| place.run(&words(options)).expect(0).stdout;
    let told = table("--partition cpu --target pico2");
    let line = told.lines().last().unwrap();
    assert!(line.contains(" nodes, 100 % of the work, on portable kernels: target ("), "{told}");
    assert!(line.ends_with("; `etbuild explain --partition` lists them"), "{told}");
    let fallback = unit(&place.json(&words("--partition cpu --target pico2")), "pico2")["fallback"].clone();
    assert_eq!((&fallback["nodes"], &fallback["work"]), (&fallback["all_nodes"], &1.0.into()));
    // All nodes run on the backend, or no backend was asked.
    for quiet in ["--target linux-x86_64", "--target pico2", "--partition portable --target linux-x86_64"] {
        assert!(!table(quiet).contains("portable kernels"), "{quiet}");
    }
}

#[test]
fn a_program_file_tells_what_a_backend_of_another_target_leaves() {
    let place = Place::warm();
    let program = place.path().join("digits.pte");
    let quantized = "--quantize int8 --calibrate examples/digits/calibration.safetensors --partition cortex-m";
    let words = format!("compile {RECIPE} {quantized} --program {}", program.display());
    let told = place.run(&words).expect(0).stdout;
    assert!(told.contains(" nodes, 100 % of the work, on portable kernels: target ("), "{told}");
    let fallback = place.json(&words)["fallback"].clone();
    assert_eq!((&fallback["nodes"], &fallback["work"]), (&fallback["all_nodes"], &1.0.into()));
}

#[test]
fn int8_without_a_backend_is_told_to_be_slow() {
    let place = Place::warm();
    let quantized = "--quantize int8 --calibrate examples/digits/calibration.safetensors --target linux-x86_64";
    let notes = |partition: &str| {
        let result = place.json(&format!("build {RECIPE} {quantized} --partition {partition}"));
        unit(&result, "linux-x86_64")["notes"].clone()
    };
    assert_eq!(notes("auto"), serde_json::json!([]));
    assert!(notes("portable")[0].as_str().unwrap().contains("slower than the model in float32"));
}

#[test]
fn the_size_of_a_binary_counts_the_files_that_the_binary_reads() {
    let place = Place::warm();
    let table = place.run(&format!("build {RECIPE} --target linux-x86_64")).expect(0).stdout;
    let folder = place.out().join("digits/linux-x86_64");
    let files = ["digits", "digits.pte"].map(|name| fs::metadata(folder.join(name)).unwrap().len());
    let kib = format!("{:.1} KiB", files.iter().sum::<u64>() as f64 / 1024.0);
    let mib = format!("{:.1} MiB", files.iter().sum::<u64>() as f64 / (1024.0 * 1024.0));
    assert!(table.contains(&kib) || table.contains(&mib), "{files:?}\n{table}");
}

#[test]
fn results_lie_below_the_output_folder_as_the_manifest_says() {
    let place = Place::warm();
    place.run(&format!("deploy {RECIPE}")).expect(0);
    let folders: BTreeSet<_> =
        fs::read_dir(place.out().join("digits")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 4);
    for folder in folders {
        let mut written = files::tree(&folder);
        let manifest: Value = serde_json::from_slice(&written.remove(Path::new("manifest.json")).unwrap()).unwrap();
        let listed = manifest["files"].as_object().unwrap();
        assert!(written.contains_key(Path::new("digits.pte")) && written.contains_key(Path::new("size.json")));
        assert_eq!(written.len(), listed.len(), "{}", folder.display());
        for (name, file) in listed {
            let bytes = &written[Path::new(name)];
            assert_eq!(file["b3"], Digest::of(bytes).to_string(), "{name}");
            assert_eq!(file["size"], bytes.len());
        }
        assert_eq!(fs::metadata(folder.join("digits")).unwrap().permissions().mode() & 0o111, 0o111);
        assert!(written[Path::new("digits")].starts_with(b"\x7fELF"));
    }
}

#[test]
fn the_pico_image_satisfies_the_boot_rom() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --target pico2")).expect(0);
    let image = fs::read(place.out().join("digits/pico2/digits.uf2")).unwrap();
    let blocks: Vec<[u32; 128]> = image.chunks(512).map(words).collect();
    for (number, block) in (0..).zip(&blocks) {
        assert_eq!((block[0], block[1], block[127]), (0x0a32_4655, 0x9e5d_5157, 0x0ab1_6f30));
        assert_eq!(block[2] & 0x2000, 0x2000, "a family is present");
        assert_eq!(block[3], 0x1000_0000 + 256 * number, "pages follow each other from the start of flash");
        assert_eq!((block[4], block[5], block[6]), (256, number, blocks.len() as u32));
        assert_eq!(block[7], 0xe48b_ff59, "RP2350, Arm, secure");
    }
    let definition = 0xffff_ded3;
    assert!(blocks[..16].iter().any(|block| block[8..72].contains(&definition)), "an image definition within 4 KiB");
}

fn words(block: &[u8]) -> [u32; 128] {
    let words = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    words.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn firmware_takes_little_beside_the_program() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --target mps2-an505")).expect(0);
    let sizes: Value =
        serde_json::from_slice(&fs::read(place.out().join("digits/mps2-an505/size.json")).unwrap()).unwrap();
    let sum = |names: &[&str]| names.iter().map(|name| sizes[name].as_u64().unwrap()).sum::<u64>();
    assert!(sum(&["text"]) > 0 && sum(&["text", "rodata", "data"]) <= 24 << 10, "{sizes}");
    assert!(sum(&["data", "bss"]) <= 2 << 10, "{sizes}");
}

#[test]
fn the_table_has_a_row_per_target() {
    let ran = Place::warm().run(&format!("deploy {RECIPE}")).expect(0);
    let (units, boards) = ran.stdout.split_once("\n\n").unwrap();
    let rows: Vec<Vec<&str>> = units.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "target binary size flash ram accuracy max error cached note");
    let targets: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    assert_eq!(targets, ["linux-x86_64", "linux-aarch64", "mps2-an505", "pico2"]);
    assert!(rows[1..4].iter().all(|row| row.contains(&"99.17")), "{}", ran.stdout);
    assert!(rows[4].join(" ").contains("not run"), "{}", ran.stdout);
    let boards: Vec<Vec<&str>> = boards.lines().map(|line| line.split_whitespace().collect()).collect();
    let head = "board instructions time (estimate) bits arena static stack stack bound code program test data";
    assert_eq!(boards[0].join(" "), head);
    assert_eq!((boards[1][0], boards[2][..2].to_vec()), ("mps2-an505", vec!["pico2", "-"]));
    assert!(boards[1][1].parse::<u64>().unwrap() > 1_000_000, "{}", ran.stdout);
    assert_eq!(boards[1][3..5], ["ms", "equal"], "{}", ran.stdout);
}

#[test]
fn verification_that_is_required_needs_every_target() {
    let place = Place::warm();
    let ran = place.run(&format!("deploy {RECIPE} --require-verify")).expect(8);
    assert!(
        ran.stderr.contains("error[ETB0708]: digits@pico2 was not verified: no board is attached"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hold BOOTSEL"), "{}", ran.stderr);
    let emulated = EMULATED.map(|target| format!("--target {target}")).join(" ");
    let ran = place.run(&format!("deploy {RECIPE} --require-verify {emulated}")).expect(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn other_targets_complete_without_an_emulator() {
    let place = Place::warm();
    let path = path_without_emulators(&place);
    let deploy = |words: &str| Ran::of(place.command(words.split(' ')).env("PATH", &path));
    let ran = deploy(&format!("deploy {RECIPE}")).expect(0);
    for (target, program, package) in
        [("linux-aarch64", "qemu-aarch64", "qemu-user"), ("mps2-an505", "qemu-system-arm", "qemu-system-arm")]
    {
        let message = format!("digits@{target} was not verified: the emulator `{program}` is not installed");
        assert!(ran.stderr.contains(&format!("warning[ETB0708]: {message}")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("apt-get install {package}")), "{}", ran.stderr);
        assert!(place.out().join("digits").join(target).join("digits").exists());
    }
    let result = deploy(&format!("deploy {RECIPE} --output json")).expect(0).json();
    assert_eq!(unit(&result, "linux-x86_64")["verification"]["state"], "done");
    assert_eq!(unit(&result, "mps2-an505")["verification"]["reason"]["code"], "ETB0703");
    deploy(&format!("deploy {RECIPE} --target linux-aarch64 --require-verify")).expect(8);
}

/// A `PATH` with only Rust and a linker.
fn path_without_emulators(place: &Place) -> std::path::PathBuf {
    let folder = place.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["rustc", "cargo", "rustup", "cc", "ld"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.exists());
        found.iter().for_each(|found| symlink(found, folder.join(name)).unwrap());
    }
    folder
}

#[test]
fn a_hosted_binary_runs_where_it_was_written() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --target linux-x86_64")).expect(0);
    let outputs = place.path().join("outputs.safetensors");
    let mut binary = Command::new(place.out().join("digits/linux-x86_64/digits"));
    binary.arg("--inputs").arg(place.root.join(TEST_DATA)).arg("--outputs").arg(&outputs);
    Ran::of(&mut binary).expect(0);
    assert!(tensors::max_difference(&outputs, &place.root.join(TEST_DATA)) <= 1e-4);
}

#[test]
fn a_single_file_runs_anywhere() {
    let place = Place::warm();
    let table = place.run(&format!("build {RECIPE} --set output=single --target linux-x86_64")).expect(0).stdout;
    let (binary, outputs) = (place.path().join("alone"), place.path().join("outputs.safetensors"));
    fs::copy(place.out().join("digits/linux-x86_64/digits"), &binary).unwrap();
    let size = fs::metadata(&binary).unwrap().len() as f64;
    assert!([1024.0, 1024.0 * 1024.0].iter().any(|unit| table.contains(&format!(" {:.1} ", size / unit))), "{table}");
    let mut command = Command::new(&binary);
    command.arg("--inputs").arg(place.root.join(TEST_DATA)).arg("--outputs").arg(&outputs);
    Ran::of(&mut command).expect(0);
    assert!(tensors::max_difference(&outputs, &place.root.join(TEST_DATA)) <= 1e-4);
}

#[test]
fn a_binary_that_is_called_by_a_link_finds_its_program() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --target linux-x86_64")).expect(0);
    let (link, outputs) = (place.path().join("link"), place.path().join("outputs.safetensors"));
    symlink(place.out().join("digits/linux-x86_64/digits"), &link).unwrap();
    let mut command = Command::new("./link");
    command.current_dir(place.path());
    command.arg("--inputs").arg(place.root.join(TEST_DATA)).arg("--outputs").arg(&outputs);
    Ran::of(&mut command).expect(0);
}

#[test]
fn models_in_half_precision_run_on_the_backend() {
    let place = Place::warm();
    for name in ["float16", "bfloat16"] {
        let data = format!("etbuild/etbuild/tests/data/{name}");
        let deploy = format!("deploy {data}.pt2 --target linux-x86_64 --set verify.inputs={data}.safetensors");
        let result = place.json(&format!("{deploy} --set verify.tolerance=1e-2"));
        let report = unit(&result, "linux-x86_64");
        let (state, notes) = (&report["verification"]["state"], report["notes"].to_string());
        assert_eq!(state, "done", "{report}");
        // The conversions of the input and of the output.
        assert_eq!(report["fallback"]["nodes"], 2, "{report}");
        assert!(report["fallback"]["work"].as_f64().unwrap() < 0.05, "{report}");
        assert!(notes.contains("are computed in float32"), "{notes}");
        // The outputs are those of float32, rounded to the model's type.
        let against_float32 = format!("{deploy} --set verify.outputs=wide_ --set verify.tolerance=4e-3");
        assert_eq!(unit(&place.json(&against_float32), "linux-x86_64")["verification"]["state"], "done");
        let kept = place.json(&format!("{deploy} --set verify.tolerance=2e-2 --set export.precision=model"));
        let kept = unit(&kept, "linux-x86_64");
        assert!(kept["fallback"]["work"].as_f64().unwrap() > 0.9, "{kept}");
        assert_eq!(kept["notes"], serde_json::json!([]), "{kept}");
    }
}

#[test]
fn a_hosted_binary_refuses_a_program_with_other_operators() {
    let place = Place::warm();
    place.run(&format!("build {RECIPE} --partition portable --target linux-x86_64")).expect(0);
    let folder = place.out().join("digits/linux-x86_64");
    // An operator's name, changed in place: another operator that the binary has no kernel for.
    files::change(&folder.join("digits.pte"), |bytes| {
        let at = bytes.windows(10).position(|window| window == b"aten::relu").unwrap();
        bytes[at..at + 10].copy_from_slice(b"aten::tanh");
    });
    let outputs = place.path().join("outputs.safetensors");
    let mut binary = Command::new(folder.join("digits"));
    binary.arg("--inputs").arg(place.root.join(TEST_DATA)).arg("--outputs").arg(&outputs);
    let ran = Ran::of(&mut binary);
    assert_ne!(ran.status, 0);
    assert!(ran.stderr.contains("aten::tanh"), "{}", ran.stderr);
    assert!(!outputs.exists());
}

#[test]
fn outputs_beyond_the_tolerance_fail_and_are_still_written() {
    let place = Place::warm();
    let ran = place.run(&format!("deploy {RECIPE} --target linux-x86_64 --set verify.tolerance=0")).expect(8);
    assert!(ran.stderr.contains("error[ETB0702]"), "{}", ran.stderr);
    assert!(place.out().join("digits/linux-x86_64/digits").exists());
}
