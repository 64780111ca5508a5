//! Every shipped board: the digits recipe is linked for it, and run where QEMU emulates the board.

use std::collections::BTreeMap;
use std::fs;

use etbuild_target::{Catalogue, Kind, Run, Target};
use object::{Object, ObjectSection};
use serde_json::Value;

use crate::support::{Place, RECIPE, repository, tensors, unit};

/// The boards whose memory float32 does not fit in: their tensors are int8.
const INT8: [&str; 1] = ["stm32vldiscovery"];

/// The greatest difference from PyTorch's outputs, which are logits of some tens.
const FLOAT32: f64 = 1e-4;
const QUANTIZED: f64 = 10.0;

/// How many cases run on a board: software computes floating-point numbers on some.
const CASES: usize = 4;

fn boards() -> BTreeMap<String, Target> {
    let catalogue = Catalogue::shipped().unwrap();
    let boards = catalogue.iter().filter(|target| target.kind() == Kind::BareMetal);
    boards.map(|target| (target.name().to_owned(), target.clone())).collect()
}

/// A deploy of the digits recipe to the boards.
fn command<'a>(place: &Place, options: &str, boards: impl Iterator<Item = &'a str>) -> String {
    let data = tensors::first_cases(&place.root.join("examples/digits/test.safetensors"), CASES);
    let data = place.file("test.safetensors", data);
    let targets: Vec<String> = boards.map(|board| format!("--target {board}")).collect();
    let inputs = format!("--set verify.inputs={}", data.display());
    format!("deploy {RECIPE} {options} {inputs} --output json {}", targets.join(" "))
}

/// Outputs of int64, such as the class of an image, and of several rows are compared as those of float32 are.
#[test]
fn outputs_of_every_type_are_compared_on_a_board() {
    let data = |name: &str| repository().join("etbuild/etbuild-import/tests/data").join(name).display().to_string();
    let [model, inputs, outputs] =
        ["pt2", "inputs.safetensors", "outputs.safetensors"].map(|end| data(&format!("language.{end}")));
    let place = Place::cold_with_compiled_crates();
    let text = format!(
        "etbuild: 1\nname: language\nmodel: {{ pt2: {model} }}\ntargets: [mps2-an505]\n\
         verify: {{ inputs: {inputs}, reference: {outputs}, tolerance: 1e-4 }}\n"
    );
    let recipe = place.file("language.yaml", text).display().to_string();
    let result = place.json(&format!("deploy {recipe}"));
    let verification = &unit(&result, "mps2-an505")["verification"];
    if verification["state"] != "skipped" {
        assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &1.into()), "{result}");
    }
}

/// Planned tensors go to the banks that a target names, the fastest first, and banks that are too small together are an error.
#[test]
fn tensors_go_to_the_banks_of_a_target() {
    let place = Place::warm();
    let shipped = fs::read_to_string(repository().join("targets/mps3-an547.yaml")).unwrap();
    let target = |hot: &str, rest: &str| {
        let banks = format!(
            "    - {{ name: hot, origin: 0x20070000, size: {hot}, access: rw }}\n    - {{ name: isram, origin: 0x21000000, size: {rest}, access: rw }}\n"
        );
        let lines = shipped.split_inclusive('\n').filter(|line| !line.contains("name: isram"));
        let text: String = lines.collect();
        let text = text.replace("  code: flash\n", &format!("{banks}  code: flash\n"));
        place.file(
            "banks.yaml",
            text.replace("[sram, isram]", "[hot, isram]").replace("name: mps3-an547", "name: banks"),
        )
    };
    let file = target("1 KiB", "64 KiB").display().to_string();
    let result = place.run(&command(&place, "", [&*file].into_iter())).expect(0).json();
    let deployed = unit(&result, "banks");
    let binary = fs::read(deployed["files"][0]["path"].as_str().unwrap()).unwrap();
    let parsed = object::File::parse(&*binary).unwrap();
    let section = |name: &str| parsed.section_by_name(name).map(|section| (section.address(), section.size()));
    let [hot, isram] = [".arena.hot", ".arena.isram"].map(|name| section(name).unwrap());
    assert_eq!([hot.0, isram.0], [0x2007_0000, 0x2100_0000]);
    assert!((1..=1024).contains(&hot.1) && isram.1 > 1024, "{hot:?} {isram:?}");
    let arena = deployed["sizes"]["arena"].as_u64().unwrap();
    assert_eq!(arena, hot.1 + isram.1 + section(".arena").unwrap().1);
    if deployed["verification"]["state"] != "skipped" {
        assert_eq!(deployed["verification"]["state"], "done", "{deployed}");
        assert!(deployed["verification"]["max_error"].as_f64().unwrap() <= FLOAT32, "{deployed}");
    }
    let file = target("512 B", "1 KiB").display().to_string();
    let refused = place.run(&command(&place, "", [&*file].into_iter())).expect(4);
    assert!(refused.stdout.contains("ETB0404") && refused.stdout.contains("`isram`"), "{}", refused.stdout);
}

/// The file of a shipped target with another name and a changed text.
fn changed(place: &Place, target: &str, name: &str, [from, to]: [&str; 2]) -> String {
    let shipped = fs::read_to_string(repository().join(format!("targets/{target}.yaml"))).unwrap();
    let text = shipped.replace(&format!("name: {target}"), &format!("name: {name}"));
    assert!(text.contains(from), "{target} has no `{from}`");
    place.file(&format!("{name}.yaml"), text.replace(from, to)).display().to_string()
}

#[test]
fn a_stack_that_calls_can_leave_is_refused() {
    let place = Place::warm();
    let file = changed(&place, "mps2-an505", "narrow", ["stack: 16 KiB", "stack: 1 KiB"]);
    let refused = unit(&place.run(&command(&place, "", [&*file].into_iter())).expect(4).json(), "narrow").clone();
    let found = &refused["diagnostics"][0];
    assert_eq!(found["code"], "ETB0404", "{refused}");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("the target keeps 1024: `reset`, which calls `main`, which calls `et_ops::"), "{message}");
    assert!(found["help"].as_str().unwrap().contains("set `stack` in `memory` of the target to at least"), "{found}");
}

/// A budget that the whole images exceed: some layers are computed in patches, with the outputs of those without.
#[test]
fn a_board_with_little_memory_computes_layers_in_patches() {
    let place = Place::warm();
    let deploy = |more: &str| {
        unit(&place.json(&format!("deploy {RECIPE} --target mps2-an505 {QUANTIZE} {more}")), "mps2-an505").clone()
    };
    let (whole, patched) = (deploy(""), deploy("--set budget.ram=18400B"));
    let notes = |unit: &Value| unit["notes"].to_string();
    assert!(!notes(&whole).contains("patches") && notes(&patched).contains("patches"), "{patched}");
    let arena = |unit: &Value| unit["sizes"]["arena"].as_u64().unwrap();
    assert!(arena(&patched) < arena(&whole), "{patched}");
    let counts =
        |unit: &Value| ["state", "cases", "same_prediction", "max_error"].map(|key| unit["verification"][key].clone());
    assert_eq!(counts(&patched), counts(&whole));
}

/// The bound from the instructions is at least the stack that the run used, and at most 512 bytes more.
fn check_stack(unit: &Value, name: &str) {
    let bound = unit["stack"]["bytes"].as_u64().unwrap_or_else(|| panic!("{name}: {}", unit["stack"]));
    let used = unit["cost"]["stack"].as_u64().unwrap_or(bound);
    assert!(used <= bound && bound <= used + 512, "{name}: {used} of {bound} bytes of stack");
}

/// Checks the binary and the verification of a unit against the file of its board.
fn check(unit: &Value, board: &Target, tolerance: f64) {
    let (name, verification) = (board.name(), &unit["verification"]);
    assert_eq!(unit["diagnostics"].as_array().map_or(0, Vec::len), 0, "{name}: {unit}");
    let binary = unit["files"][0]["path"].as_str().unwrap_or_else(|| panic!("{name}: {unit}"));
    assert!(fs::read(binary).unwrap().starts_with(b"\x7fELF"), "{name}");
    check_stack(unit, name);
    if matches!(board.run(), Run::Emulator(_)) && verification["state"] != "skipped" {
        assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &CASES.into()), "{name}: {unit}");
        assert!(verification["max_error"].as_f64().unwrap() <= tolerance, "{name}: {verification}");
        assert_eq!(verification["same_prediction"], CASES, "{name}: {verification}");
        assert_eq!(unit["same_bits"], true, "{name}: {unit}");
    }
}

/// A library states the stack of its calls, in the report and in the header: that of its test firmware but for what this adds around the call, and at
/// least what the run in the emulator used below that.
#[test]
fn a_library_states_the_stack_of_its_calls() {
    let place = Place::warm();
    let boards = ["mps2-an505", "riscv-virt", "mps2-an386", "microbit"];
    // The int8 kernels of this example have no bound on the last two, whose firmware has none either.
    for (options, boards) in [("", &boards[..]), (QUANTIZE, &boards[..2])] {
        let options = format!("--set library=true {options}");
        let result = place.run(&command(&place, &options, boards.iter().copied())).expect(0).json();
        for board in boards.iter().copied() {
            let unit = unit(&result, board);
            let library = &unit["library"];
            let bound = library["stack"]["bytes"].as_u64().unwrap_or_else(|| panic!("{board}: {library}"));
            let file = |name: &str| fs::read_to_string(place.out().join("digits").join(board).join(name)).unwrap();
            assert!(file("digits.h").contains(&format!("#define DIGITS_STACK_BYTES {bound}\n")), "{board}");
            assert!(
                file("library/src/lib.rs").contains(&format!("pub const STACK_BYTES: usize = {bound};")),
                "{board}"
            );
            let calls = library["stack"]["calls"].as_array().unwrap();
            assert!(calls[0]["function"].as_str().unwrap().starts_with("digits_"), "{board}: {library}");
            let firmware = unit["stack"]["bytes"].as_u64().unwrap();
            assert!(bound <= firmware + 64 && firmware <= bound + 384, "{board}: {bound} and {firmware} bytes");
            let used = unit["cost"]["stack"].as_u64().unwrap_or(bound);
            assert!(used <= bound + 384, "{board}: {used} bytes in use, {bound} of the library");
            let code = library["code"].as_u64().unwrap();
            let most = ["text", "rodata"].map(|part| unit["sizes"][part].as_u64().unwrap()).iter().sum::<u64>() + 512;
            assert!((4 << 10..most).contains(&code), "{board}: {library} {most}");
            assert_eq!(library["program"], unit["sizes"]["program"], "{board}");
        }
    }
}

/// Programs cannot panic: where a kernel would, there is a fault, and no message. The linker's map has no function of
/// `core::panicking`.
fn check_panics(place: &Place, command: &str) {
    let report = place.run(&command.replacen("deploy", "report", 1)).expect(0).stdout;
    assert!(report.contains("\"et_runtime::"), "the report has no modules");
    assert!(!report.contains("core::panicking"), "{command}");
}

const QUANTIZE: &str = "--quantize int8 --calibrate examples/digits/calibration.safetensors --set verify.tolerance=10";

#[test]
fn every_board_is_linked_and_emulated_ones_compute_what_pytorch_computed() {
    let (place, boards) = (Place::warm(), boards());
    assert!(boards.len() >= 25, "{}", boards.len());
    let names = || boards.keys().map(String::as_str);
    let float32 = command(&place, "", names().filter(|name| !INT8.contains(name)));
    let int8 = command(&place, QUANTIZE, INT8.into_iter().chain(["mps2-an505"]));
    let [real, integer] = [&float32, &int8].map(|command| place.run(command).expect(0).json());
    for (name, board) in &boards {
        let (result, tolerance) = if INT8.contains(&name.as_str()) { (&integer, QUANTIZED) } else { (&real, FLOAT32) };
        check(unit(result, name), board, tolerance);
    }
    [&float32, &int8].into_iter().for_each(|command| check_panics(&place, command));
    check_costs(&real);
}

/// Instructions are counted, exactly alike on machines with the same processor but for the roundings of their timers.
fn check_costs(result: &Value) {
    let cost = |name: &str| &unit(result, name)["cost"];
    if cost("riscv-virt").is_null() {
        return; // Without an emulator.
    }
    let count = |name: &str| cost(name)["instructions"].as_u64().unwrap();
    assert_eq!(count("riscv-virt"), count("hifive1"));
    assert!(count("mps2-an385").abs_diff(count("netduino2")) < 200, "{}", count("mps2-an385"));
    assert!(count("mps2-an386") * 2 < count("mps2-an385"), "a floating-point unit saves instructions");
    let time = cost("netduinoplus2")["estimated_milliseconds"].as_f64().unwrap();
    assert!((time - count("netduinoplus2") as f64 / 168e3).abs() < 1e-6, "{time}");
    for name in ["mps2-an505", "microbit", "riscv-virt"] {
        let stack = cost(name)["stack"].as_u64().unwrap();
        assert!((512..2048).contains(&stack), "{name}: {stack} bytes of stack");
    }
    assert!(unit(result, "pico2")["cost"].is_null());
}

/// Processors with each kind of kernels.
const ROWS: [&str; 6] = ["microbit", "mps2-an385", "mps2-an386", "mps2-an505", "mps3-an547", "riscv-virt"];

/// The greatest error of the digits in a scheme, equal on all processors, and the size of the program file. Each board has a bound of its
/// stack.
fn quantized(place: &Place, scheme: &str) -> (f64, u64) {
    let options =
        format!("--quantize {scheme} --calibrate examples/digits/calibration.safetensors --set verify.tolerance=10");
    let result = place.run(&command(place, &options, ROWS.into_iter().chain(["pico"]))).expect(0).json();
    ROWS.into_iter().chain(["pico"]).for_each(|name| check_stack(unit(&result, name), name));
    let verified =
        ROWS.map(|name| unit(&result, name)).into_iter().filter(|unit| unit["verification"]["state"] == "done");
    let errors: Vec<f64> = verified.map(|unit| unit["verification"]["max_error"].as_f64().unwrap()).collect();
    assert!(errors.iter().all(|error| *error == errors[0]), "{scheme}: {errors:?}");
    let program = unit(&result, "mps2-an505")["sizes"]["program"].as_u64().unwrap();
    (errors.first().copied().unwrap_or_default(), program)
}

#[test]
fn int16_activations_have_a_smaller_error_and_int4_weights_a_smaller_program_than_int8() {
    let place = Place::warm();
    let [int8, int16, int4] = ["int8", "int16x8", "int8x4"].map(|scheme| quantized(&place, scheme));
    if int8.0 == 0.0 {
        return; // Without an emulator.
    }
    assert!(int16.0 < int8.0, "{int16:?} {int8:?}");
    assert!(int4.1 * 10 < int8.1 * 7, "{int4:?} {int8:?}");
}

/// Before a compiler runs.
#[test]
fn verification_data_that_the_flash_cannot_have_is_refused() {
    let place = Place::warm();
    let change = ["0x10000000, size: 4 MiB", "0x10000000, size: 25450 B"];
    let file = changed(&place, "mps2-an505", "full", change);
    let refused = unit(&place.run(&command(&place, "", [&*file].into_iter())).expect(4).json(), "full").clone();
    let found = &refused["diagnostics"][0];
    assert_eq!(found["code"], "ETB0404", "{refused}");
    let message = found["message"].as_str().unwrap();
    assert!(message.starts_with("bank `flash` has 25450 bytes, and the program takes 24816 "), "{message}");
    assert!(message.ends_with("1184 (4 cases)"), "{message}");
    assert_eq!(found["help"], "verify fewer cases: one takes 296 bytes, and at most 2 fit");
}

/// The program lies in RAM as well, and computes the same.
#[test]
fn a_program_is_copied_to_the_bank_that_a_target_names() {
    let place = Place::warm();
    let names = ["mps2-an385", "mps2-an505", "riscv-virt"];
    let change = ["  constants: flash\n", "  constants: flash\n  copy_program_to: sram\n"];
    let files = names.map(|name| changed(&place, name, &format!("{name}-copy"), change));
    let result = place.run(&command(&place, "", files.iter().map(String::as_str))).expect(0).json();
    for name in names {
        let unit = unit(&result, &format!("{name}-copy"));
        let [copied, program] = ["copied", "program"].map(|key| unit["sizes"][key].as_u64().unwrap());
        assert!(copied > 0 && copied == program, "{unit}");
        let binary = fs::read(unit["files"][0]["path"].as_str().unwrap()).unwrap();
        let parsed = object::File::parse(&*binary).unwrap();
        let address = |name: &str| parsed.section_by_name(name).unwrap().address();
        assert!(address(".program_copy") > address(".stack"), "{name}: the copy lies behind the stack");
        if unit["verification"]["state"] != "skipped" {
            assert!(unit["verification"]["max_error"].as_f64().unwrap() <= FLOAT32, "{unit}");
        }
    }
}
