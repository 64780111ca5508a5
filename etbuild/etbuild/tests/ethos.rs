//! The backend `ethos-u`: graphs for Arm's NPU beside a microcontroller, compiled by Vela, which `VELA` or `PATH` finds; without Vela these
//! tests fail, unless `ETBUILD_SKIP_ETHOS=1` skips them.

use std::fs;

use crate::support::{Place, Ran, repository};

const TARGETS: [&str; 2] = ["corstone-300", "corstone-320"];

/// Whether Vela is here.
///
/// # Panics
/// Without Vela, unless `ETBUILD_SKIP_ETHOS=1` is set.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
fn has_vela() -> bool {
    let has = etbuild_ethos_u::vela::version().is_ok();
    if !has {
        let skips = std::env::var_os("ETBUILD_SKIP_ETHOS").is_some_and(|value| value == "1");
        assert!(skips, "set VELA to Arm's Vela, or ETBUILD_SKIP_ETHOS=1 to skip the test");
        eprintln!("skipped: needs Arm's Vela");
    }
    has
}

/// A recipe of the digits in integers.
fn recipe(place: &Place) -> String {
    let example = |name: &str| repository().join("examples/digits").join(name).display().to_string();
    let text = format!(
        "etbuild: 1\nname: digits-npu\nmodel: {{ pt2: {} }}\ntargets: [{}]\n\
         quantize: {{ scheme: w8a8, calibrate: {} }}\nverify: {{ inputs: {}, tolerance: 1.1 }}\n",
        example("digits.pt2"),
        TARGETS.join(", "),
        example("calibration.safetensors"),
        example("test.safetensors"),
    );
    place.file("ethos.yaml", text).display().to_string()
}

#[test]
fn firmware_with_a_command_stream_is_verified_on_a_model_for_both_boards() {
    if !has_vela() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let told = place.run(&format!("deploy {}", recipe(&place))).expect(0).stdout;
    let verified =
        told.lines().filter(|line| line.contains(": verified as a program file on this machine: command streams"));
    assert_eq!(verified.count(), TARGETS.len(), "{told}");
    assert_eq!(told.lines().filter(|line| line.contains("99.17 % (357/360)")).count(), TARGETS.len(), "{told}");
    place.run(&format!("report {}", recipe(&place))).expect(0);
    for target in TARGETS {
        let line = told.lines().find(|line| line.starts_with(&format!("digits-npu@{target}: the NPU takes ")));
        assert!(line.is_some_and(|line| line.contains(" cycles, ")), "{told}");
        let page = fs::read_to_string(place.out().join(format!("digits-npu/{target}/report.html"))).unwrap();
        let section = page.split("<section id=\"npu\"").nth(1).unwrap().split("</section>").next().unwrap();
        assert!(section.contains("<td>Conv2D</td>") && section.contains(" MHz, by the estimate"), "{section}");
        let elf = fs::read(place.out().join(format!("digits-npu/{target}/digits-npu"))).unwrap();
        let magic = [et_ethos_u::MAGIC, et_ethos_u::VERSION].map(u32::to_le_bytes).concat();
        assert!(elf.windows(8).any(|window| window == magic), "{target} has no blob");
    }
}

#[test]
fn the_report_shows_both_backends() {
    if !has_vela() {
        return;
    }
    let place = Place::cold_with_compiled_crates();
    let report = place.run(&format!("explain --partition {}", recipe(&place))).expect(0).stdout;
    assert!(report.contains("ethos-u 0") && report.contains("cortex-m 1"), "{report}");
    assert!(report.contains("ethos-u: the NPU has no floating point"), "{report}");
}

#[test]
fn a_recipe_without_vela_is_refused_by_default_too() {
    let place = Place::cold_with_compiled_crates();
    let recipe = recipe(&place);
    let mut command = place.command(["plan", &recipe]);
    let refused = Ran::of(command.env("VELA", "/no/vela")).expect(1);
    assert!(
        refused.stderr.contains("ETB0501") && refused.stderr.contains("partition: [cortex-m]"),
        "{}",
        refused.stderr
    );
    let mut command = place.command(["plan", &recipe, "--partition", "cortex-m"]);
    Ran::of(command.env("VELA", "/no/vela")).expect(0);
}
