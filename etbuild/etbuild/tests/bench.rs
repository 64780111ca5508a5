//! `--bench`: the executions of each case on a board, counted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::programs::has;
use crate::support::{Place, RECIPE, tensors, unit};

const CASES: usize = 2;

/// The verification data of some cases.
fn data(place: &Place) -> PathBuf {
    let data = tensors::first_cases(&place.root.join("examples/digits/test.safetensors"), CASES);
    place.file("test.safetensors", data)
}

fn deploy(place: &Place, options: &str) -> String {
    format!("deploy {RECIPE} --set verify.inputs={} {options}", data(place).display())
}

/// The least, the median and the greatest of what was measured.
pub fn spread(measured: &Value) -> [f64; 3] {
    ["least", "median", "greatest"].map(|key| measured[key].as_f64().unwrap_or_else(|| panic!("{measured}")))
}

#[test]
fn executions_on_emulated_boards_are_counted_and_the_same_in_every_run() {
    if !has("qemu-system-arm", &["--version"]) || !has("qemu-system-riscv32", &["--version"]) {
        return;
    }
    let place = Place::warm();
    let command = deploy(&place, "--target mps2-an505 --target riscv-virt --bench=5");
    let first = place.json(&command);
    // The firmware is executed again.
    let again = place.json(&format!("{command} --no-cache"));
    for board in ["mps2-an505", "riscv-virt"] {
        let cost = &unit(&first, board)["cost"];
        assert_eq!(cost["bench"], unit(&again, board)["cost"]["bench"], "{board}");
        let cases = cost["bench"].as_array().unwrap();
        assert_eq!(cases.len(), CASES, "{board}: {cost}");
        for case in cases {
            let [least, median, greatest] = spread(&case["instructions"]);
            assert!(case["executions"] == 5 && least <= median && median <= greatest, "{board}: {case}");
            // The inference that took most was counted before, in the same firmware.
            let most = cost["instructions"].as_f64().unwrap();
            assert!((0.9 * most..=1.01 * most).contains(&least), "{board}: {least} of {most}");
            assert!(greatest <= 1.01 * most && case["cycles"].is_null(), "{board}: {case}");
        }
    }
    // The clock of the board has 20 MHz; the other one states none.
    let case = |board: &str| unit(&first, board)["cost"]["bench"][0].clone();
    let (instructions, time) =
        (spread(&case("mps2-an505")["instructions"]), &case("mps2-an505")["estimated_milliseconds"]);
    spread(time).iter().zip(instructions).for_each(|(time, count)| assert!((time - count / 20_000.0).abs() < 1e-9));
    assert!(case("riscv-virt")["estimated_milliseconds"].is_null());
}

#[test]
fn the_table_has_a_row_for_each_case() {
    if !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = Place::warm();
    let table = place.run(&deploy(&place, "--target mps2-an505 --bench")).expect(0).stdout;
    let (_, rows) = table.split_once("\nbench ").unwrap_or_else(|| panic!("{table}"));
    assert!(rows.lines().next().unwrap().contains("least"), "{table}");
    let cells = |row: &str| row.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = rows.lines().skip(1).take(CASES).map(cells).collect();
    assert_eq!(rows, ["0", "1"].map(|case| ["mps2-an505", case, "10", "instructions"].map(str::to_owned).to_vec()));
    // Without the option, nothing is executed again, and the firmware is as before.
    let plain = place.json(&deploy(&place, "--target mps2-an505"));
    assert!(unit(&plain, "mps2-an505")["cost"]["bench"].is_null(), "{plain}");
}

/// The code and the hint of a command that fails.
fn mistake(place: &Place, options: &str, status: i32) -> (String, String) {
    let result = place.run(&deploy(place, &format!("{options} --output json"))).expect(status).json();
    let found = &result["diagnostics"][0];
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (text("code"), format!("{} {}", text("message"), text("help")))
}

#[test]
fn what_cannot_be_measured_is_an_error_with_a_hint() {
    let place = Place::warm();
    for (options, hint) in [
        ("--target linux-x86_64", "`digits --bench --iters 10`"),
        ("--target pico2", "write `--device serial:PORT`"),
        ("--target nrf52840-dk", "write `--device probe`"),
        ("--target corstone-300 --set partition=portable", "has an emulator"),
    ] {
        let (code, text) = mistake(&place, &format!("{options} --bench"), 2);
        assert!(code == "ETB0801" && text.contains(hint), "{options}: {code} {text}");
    }
    let text = std::fs::read_to_string(place.root.join("targets/mps2-an505.yaml")).unwrap();
    let text = text.replace("name: mps2-an505", "name: uncounted").replace("    timer: 20 MHz\n", "");
    let target = place.file("uncounted.yaml", text.replace("aliases: ", "aliases: [] # "));
    let (code, text) = mistake(&place, &format!("--target {} --bench", target.display()), 2);
    assert!(code == "ETB0801" && text.contains("`timer:`"), "{code} {text}");
    let recipe = place.file("plain.yaml", plain(&place.root));
    let result = place.run(&format!("deploy {} --bench --output json", recipe.display())).expect(2).json();
    assert!(result.to_string().contains("write `verify: { inputs: ... }`"), "{result}");
}

/// A recipe without verification data.
fn plain(root: &Path) -> String {
    let model = root.join("examples/digits/digits.pt2");
    format!("etbuild: 1\nname: digits\nmodel: {{ pt2: {} }}\ntargets: [mps2-an505]\n", model.display())
}

#[test]
fn a_number_of_executions_is_from_1_to_10000() {
    let place = Place::warm();
    for number in ["0", "10001", "4294967295"] {
        let (code, text) = mistake(&place, &format!("--target mps2-an505 --bench={number}"), 3);
        assert!(code == "ETB0110" && text.contains("from 1 to 10000"), "{number}: {code} {text}");
    }
    for number in ["-1", "4294967296", "1.5", "x", ""] {
        place.run(&deploy(&place, &format!("--target mps2-an505 --bench={number}"))).expect(2);
    }
}
