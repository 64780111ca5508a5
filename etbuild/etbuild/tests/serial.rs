//! Boards that are flashed by a program, and report on a serial line or through a debug probe.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

use crate::bench::spread;
use crate::support::programs::has;
use crate::support::{Place, RECIPE, Ran, tensors, unit};

const BOARD: &str = "stm32f4-discovery";
const CASES: usize = 4;

/// A process that ends with the test.
struct Board {
    process: Child,
    /// The script and its emulator end with the pipe.
    power: Option<ChildStdin>,
    place: Place,
}

impl Drop for Board {
    fn drop(&mut self) {
        drop(self.power.take());
        let _ = self.process.wait();
    }
}

impl Board {
    /// A board at a serial port, or `None` without an emulator.
    fn plugged_in(how: &str) -> Option<Self> {
        if !has("qemu-system-arm", &["--version"]) || !has("python3", &["--version"]) {
            return None;
        }
        let place = Place::warm();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serial_board.py");
        let mut script = Command::new("python3");
        script.arg(path).arg(place.path()).args(how.split_whitespace()).stdin(Stdio::piped());
        let mut process = script.spawn().unwrap();
        let mut board = Self { power: process.stdin.take(), process, place };
        while fs::symlink_metadata(board.port()).is_err() {
            assert_eq!(board.process.try_wait().unwrap(), None, "the board's script ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Some(board)
    }

    fn port(&self) -> PathBuf {
        self.place.path().join("port")
    }

    /// Deploys the digits to the board; the result.
    fn deployed(&self, options: &str, status: i32) -> Value {
        // The board's script takes the file away; one that died does not.
        let script = "cp \"$0\" part && mv part firmware && \
                      for turn in $(seq 500); do [ -e firmware ] || exit 0; sleep 0.02; done; exit 1";
        let script = script.replace("part", &format!("{}/part", self.place.path().display()));
        let script = script.replace("firmware", &format!("{}/firmware", self.place.path().display()));
        let target = flashed_by(&self.place, BOARD, "sh", &format!("[-c, '{script}', \"{{binary}}\"]"));
        let device = format!("--device serial:{}", self.port().display());
        deploy(&self.place, &target, &format!("{device} {options}"), status)
    }
}

/// The file of a shipped board, with another program that flashes it.
fn flashed_by(place: &Place, board: &str, program: &str, arguments: &str) -> PathBuf {
    let text = fs::read_to_string(place.root.join(format!("targets/{board}.yaml"))).unwrap();
    let (before, _) = text.split_once("\nrun:").unwrap();
    let own = |line: &str| line.replace(&format!("name: {board}"), &format!("name: my-{board}")) + "\n";
    let before: String =
        before.lines().filter(|line| !["aliases:", "chip:"].iter().any(|key| line.starts_with(key))).map(own).collect();
    let flash = format!("flash: {{ program: {program}, arguments: {arguments}, install: get it }}");
    let run = format!("run:\n  device:\n    {flash}\n    attach: plug it in\n");
    place.file(&format!("{board}.yaml"), format!("{before}{run}"))
}

/// Deploys the digits to a target; the result, which ends with `status`.
fn deploy(place: &Place, target: &Path, options: &str, status: i32) -> Value {
    place.run(&command(place, target, options)).expect(status).json()
}

/// The command that deploys the digits to a target.
fn command(place: &Place, target: &Path, options: &str) -> String {
    let data = tensors::first_cases(&place.root.join("examples/digits/test.safetensors"), CASES);
    let data = place.file("test.safetensors", data);
    format!(
        "deploy {RECIPE} --target {} --set verify.inputs={} --output json {options}",
        target.display(),
        data.display()
    )
}

fn check_verified(result: &Value, board: &str) {
    let unit = unit(result, &format!("my-{board}"));
    let verification = &unit["verification"];
    assert_eq!((&verification["state"], &verification["cases"]), (&"done".into(), &CASES.into()), "{unit}");
    assert!(verification["max_error"].as_f64().unwrap() <= 1e-4, "{verification}");
    assert!(unit["cost"]["stack"].as_u64().unwrap() >= 512, "{unit}");
    assert!(unit["notes"].to_string().contains("run on the board at"), "{unit}");
}

fn code(result: &Value) -> &str {
    result["diagnostics"][0]["code"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_board_reports_over_its_serial_line() {
    let Some(board) = Board::plugged_in("") else { return };
    check_verified(&board.deployed("", 0), BOARD);
}

#[test]
fn a_board_on_a_serial_line_is_measured() {
    let Some(board) = Board::plugged_in("") else { return };
    let result = board.deployed("--bench=3", 0);
    check_verified(&result, BOARD);
    check_measured(&unit(&result, &format!("my-{BOARD}"))["cost"]);
}

#[test]
fn a_silent_board_is_an_error_with_what_it_wrote_last() {
    let Some(board) = Board::plugged_in("--silent") else { return };
    let result = board.deployed("--set verify.timeout=2s", 8);
    assert_eq!(code(&result), "ETB0704", "{result}");
    assert!(result.to_string().contains("115200 baud"), "{result}");
    let notes = &result["diagnostics"][0]["notes"];
    assert_eq!(notes[2], "{\"exit\":0}", "{result}");
    assert!(notes[0].as_str().unwrap().contains("another"), "{result}");
}

#[test]
fn a_debug_probe_hands_on_the_report() {
    if !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = Place::warm();
    // The emulator in place of the probe's program: both write what firmware says through semihosting, and end with it.
    let machine = "[-machine, mps2-an386, -nographic, -icount, shift=0, -semihosting-config, \"enable=on,target=native\", -kernel, \"{binary}\"]";
    let target = flashed_by(&place, "mps2-an386", "qemu-system-arm", machine);
    check_verified(&deploy(&place, &target, "--device probe", 0), "mps2-an386");
    let result = deploy(&place, &target, "--device serial:/dev/ttyACM0", 2);
    assert_eq!(code(&result), "ETB0801", "{result}");
    let result = deploy(&place, &target, "--device probe --bench=3", 0);
    check_measured(&unit(&result, "my-mps2-an386")["cost"]);
}

/// The cycles that a board counted in three executions of each case.
fn check_measured(cost: &Value) {
    let cases = cost["bench"].as_array().unwrap_or_else(|| panic!("{cost}"));
    assert_eq!(cases.len(), CASES, "{cost}");
    for case in cases {
        let [least, median, greatest] = spread(&case["cycles"]);
        assert!(case["executions"] == 3 && 0.0 < least && least <= median && median <= greatest, "{case}");
        assert!(case["instructions"].is_null(), "{case}");
    }
}

/// The word `probe` of a target stands for `probe-rs run` with the chip of the target.
#[test]
fn a_target_behind_a_debug_probe_names_its_chip_alone() {
    if !has("qemu-system-arm", &["--version"]) {
        return;
    }
    let place = Place::warm();
    let script = "#!/bin/sh\n[ \"$1 $2 $3 $#\" = \"run --chip nRF52840_xxAA 4\" ] || exit 3\n\
                  exec qemu-system-arm -machine mps2-an386 -nographic -icount shift=0 -semihosting-config enable=on,target=native -kernel \"$4\"\n";
    let program = place.file("bin/probe-rs", script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let text = fs::read_to_string(place.root.join("targets/mps2-an386.yaml")).unwrap();
    let (before, _) = text.split_once("run:\n").unwrap();
    let lines = before.lines().filter(|line| !line.starts_with("aliases:"));
    let before: String = lines.map(|line| line.replace("name: mps2-an386", "name: my-mps2-an386") + "\n").collect();
    let target = place.file("probed.yaml", format!("{before}chip: nRF52840_xxAA\nrun: {{ device: probe }}\n"));
    let folders = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let command = command(&place, &target, "--device probe");
    let ran = Ran::of(place.command(command.split(' ')).env("PATH", folders.unwrap()));
    check_verified(&ran.expect(0).json(), "mps2-an386");
    // Without the program, its installation is the hint.
    let result = deploy(&place, &target, "--device probe", 1);
    assert!(code(&result) == "ETB0501" && result.to_string().contains("cargo install probe-rs-tools"), "{result}");
}

/// Deploys to a board behind a debug probe, whose program is a script; the result.
fn probed(script: &str, options: &str) -> Value {
    let place = Place::warm();
    let banner = "banner=$(grep -a -o '{\"producer\":[^}]*}' \"$1\")\n";
    let script = place.file("probe.sh", format!("{banner}{script}\n"));
    let target = flashed_by(&place, "mps2-an386", "sh", &format!("[{}, \"{{binary}}\"]", script.display()));
    deploy(&place, &target, &format!("--device probe {options}"), 8)
}

#[test]
fn a_failure_that_firmware_tells_through_a_probe_comes_before_the_exit_status() {
    let failure = r#"echo "$banner"; echo '{"error":18,"place":"instruction","index":5}'; exit 3"#;
    let result = probed(failure, "");
    assert!(result.to_string().contains("the board failed with error 0x12 at instruction 5"), "{result}");
    let result = probed("echo \"$banner\"; echo crashed; exit 3", "");
    assert!(result.to_string().contains("`sh` ended") && result.to_string().contains("crashed"), "{result}");
}

#[test]
fn a_probe_has_one_time_limit_which_the_hint_names() {
    let result = probed("echo \"$banner\"; sleep 100", "--set verify.timeout=2s");
    assert_eq!(code(&result), "ETB0704", "{result}");
    assert!(
        result.to_string().contains("within 2s") && result.to_string().contains("raise `verify.timeout`"),
        "{result}"
    );
}

#[test]
fn firmware_of_the_same_data_and_other_code_has_another_banner() {
    let place = Place::warm();
    let banner = |options: &str| {
        let result = deploy(&place, Path::new("mps2-an386"), options, 0);
        let file = fs::read(unit(&result, "mps2-an386")["files"][0]["path"].as_str().unwrap()).unwrap();
        let start = file.windows(12).position(|part| part == b"{\"producer\":").unwrap();
        file[start..].split(|byte| *byte == b'\n').next().unwrap().to_owned()
    };
    let [small, fast, again] = ["--set optimize=size", "--set optimize=speed", "--set optimize=size"].map(banner);
    assert_eq!(small, again);
    assert_ne!(small, fast);
}

#[test]
fn boards_that_are_not_there_are_errors() {
    let place = Place::warm();
    let told = |target: &Path, options: &str, status| code(&deploy(&place, target, options, status)).to_owned();
    let absent = "--device serial:/dev/absent";
    let target = flashed_by(&place, BOARD, "sh", "[-c, \"echo Error: open failed >&2; exit 1\"]");
    assert_eq!(told(&target, absent, 8), "ETB0705");
    assert_eq!(told(&target, "--device probe", 2), "ETB0801");
    let probed = flashed_by(&place, "nrf52840-dk", "sh", "[-c, \"echo Error: open failed >&2; exit 1\"]");
    assert_eq!(told(&probed, "--device probe", 8), "ETB0705");
    let missing = flashed_by(&place, "nrf52840-dk", "absent-program", "[]");
    assert_eq!(told(&missing, "--device probe", 1), "ETB0501");
    assert_eq!(told(Path::new("mps2-an386"), absent, 2), "ETB0801");
    // Without a device, firmware is built and not run.
    let result = deploy(&place, &target, "", 0);
    assert_eq!(unit(&result, &format!("my-{BOARD}"))["verification"]["state"], "skipped", "{result}");
}
