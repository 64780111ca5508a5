//! Whether the machine has the tools of a target, without a build.

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::session::World;
use etbuild_engine::verify::{self, Runner};
use etbuild_engine::{link, request};
use etbuild_link::{API_LEVEL, Route};
use etbuild_target::Target;

/// The tools of the machine for a target, in words, or the missing tools.
pub struct ToolCheck {
    /// The compiler.
    pub toolchain: Result<String, Box<Diagnostic>>,
    /// The runner of the binaries.
    pub runner: Result<String, Box<Diagnostic>>,
}

/// Looks for the toolchain and the runner of a target. Installs nothing where `world` is offline.
pub fn check_tools(world: &World, target: &Target) -> ToolCheck {
    let toolchain = match link::tools(world, target) {
        Ok(tools) => Ok(describe(&tools)),
        Err(missing) => prebuilt(world, target).ok_or(missing),
    };
    let runner = verify::runner(world, target);
    ToolCheck { toolchain, runner: runner.map(|runner| name(&runner)) }
}

/// What stands for a toolchain that is missing.
fn prebuilt(world: &World, target: &Target) -> Option<String> {
    link::prebuilt::is_offered(world, target, &request::target_facts(target))
        .then(|| "prebuilt runtime, no Rust".to_owned())
}

fn describe(tools: &link::Tools) -> String {
    let version = tools.toolchain.rustc_version.lines().next().unwrap_or_default().to_owned();
    let route = match tools.toolchain.route {
        Route::Installed | Route::Added => version,
        Route::BuildStd => format!("{version}, building the standard library"),
    };
    match &tools.toolchain.linker_version {
        Some(compiler) if tools.target.is_android() => format!("{route}, linking with {compiler}"),
        None if tools.target.is_android() => format!("{route}, linking without an NDK for API level {API_LEVEL}"),
        _ => route,
    }
}

fn name(runner: &Runner) -> String {
    match runner {
        Runner::Native => "this machine".to_owned(),
        Runner::Model { .. } => "this machine, with a model of the NPU".to_owned(),
        Runner::Device(device) => device.to_string(),
        Runner::Emulator { program, .. } | Runner::Drive(program) => program.display().to_string(),
    }
}
