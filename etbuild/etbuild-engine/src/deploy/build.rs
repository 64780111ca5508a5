//! A deploy of a unit: runs the stages in order.

use std::path::Path;

use etbuild_checkpoint::Multiplied;
use etbuild_diagnostic::Diagnostic;
use etbuild_link::{
    LibraryForm, LibraryUse, SizeReport, StackUse, c_package_binaries, c_package_names, cmake_name,
    process_package_names, program_in_firmware, web_package_names,
};
use etbuild_quantize::Scheme;
use etbuild_store::BlobRef;

use super::budget::{self, Known, Weights};
use super::package::{self, Deliverable};
use super::record::{keep, noted};
use super::verification::verify;
use super::{UnitReport, Verification, limits};
use crate::action::{ArtifactKind, Blocked, StageResult, Staged};
use crate::emit::data_files;
use crate::input::{Db, ModelSource};
use crate::link::{self, Maker, ProjectInputs};
use crate::memory::{Need, what_fits};
use crate::partition::{DeviceReport, Fallback, PartitionOptions, Patches};
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::{export, import};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Program files in the store: every failure of a build up to there, and nothing compiled, run or written out. Limits on the
    /// loss of quantization are not measured.
    Check,
    /// Binaries in the output folder.
    Build,
    /// The same, and run where that is possible.
    Deploy,
}

/// Brings a unit to the goal.
pub fn build(db: &dyn Db, unit: &Unit, goal: Goal, out: &Path, report: &mut UnitReport) -> Result<(), Blocked> {
    let mut widened = false;
    for (method, archive) in &unit.program.archives {
        let part = unit.part(method);
        let mut note = |result: StageResult| result.inspect(|staged| noted(db, unit, part, staged, report));
        if let Some(python) = archive.python(db) {
            note(export::exported(db, python))?;
        }
        note(import::imported(db, *archive))?;
        widened |= unit.program.lower_options(db, method)?.widens_halves;
        note(unit.program.lowered(db, method))?;
        if unit.program.quantize.is_some() {
            note(unit.program.prepared(db, method))?;
        }
        if goal != Goal::Check
            && let Some(measured) = limits::judged(db, unit, method)
        {
            note(measured)?;
        }
        if !unit.program.partition.engines.is_empty() {
            note(unit.program.partitioned(db, method))?;
        }
    }
    if widened {
        report
            .notes
            .push("float16 and bfloat16 are computed in float32; inputs and outputs keep their types".to_owned());
    }
    let checkpoint = unit.program.archives.values().find_map(|source| match source {
        ModelSource::Checkpoint(folder, _) => Some(*folder),
        ModelSource::Archive(_) => None,
    });
    report.notes.extend(checkpoint.and_then(|folder| import::forms(db, folder, multiplied(unit))));
    note_speed(db, unit, report)?;
    report.notes.extend(device_notes(db, unit)?);
    let mut note = |result: StageResult| result.inspect(|staged| noted(db, unit, None, staged, report));
    note(unit.planned(db))?;
    let emitted = note(unit.emitted(db))?;
    check_room(db, unit, &emitted)?;
    if goal == Goal::Check {
        return check_link(db, unit, &emitted);
    }
    let maker = match unit.maker(db) {
        Ok(maker) => maker,
        Err(reason) if goal == Goal::Deploy && !unit.link.is_prebuilt() => {
            report.verification = Verification::Skipped { reason };
            return Ok(());
        }
        Err(reason) => return Err(Blocked::failed(Stage::Link, [*reason])),
    };
    unit.selected(db, &maker).map(&mut note).transpose()?;
    let linked = note(unit.linked(db, &maker))?;
    if matches!(maker, Maker::Prebuilt(_)) {
        report.notes.push(prebuilt(unit));
    }
    if !unit.target.has_binary() {
        report.notes.push("a library for apps and no binary: the linker of the app makes it".to_owned());
    }
    check_budget(db, unit, &emitted, &linked, report)?;
    let verified = if goal == Goal::Deploy { verify(db, unit, &maker, report) } else { Ok(()) };
    let folder = out.join(unit.folder());
    let deliverables = deliverables(unit, &emitted, &linked)?;
    let name = (unit.name(), unit.target.name());
    report.files = package::write(db.world(), &folder, name, &deliverables, &report.stages);
    keep(db, unit, &folder, report);
    verified
}

/// What the integers that a checkpoint stores are multiplied by.
fn multiplied(unit: &Unit) -> Multiplied {
    match unit.program.quantize.as_ref().map(|quantize| quantize.options.scheme) {
        None | Some(Scheme::Float) => Multiplied::Float,
        Some(Scheme::Stored) => Multiplied::Stored,
        Some(_) => Multiplied::Scheme,
    }
}

/// Why the binary has kernels that its program does not call.
fn prebuilt(unit: &Unit) -> String {
    let asked = if unit.link.is_prebuilt() { "" } else { ", since no Rust toolchain is installed for the target" };
    format!("a prebuilt runtime with all kernels{asked}")
}

/// Notes for the report what runs on portable kernels although backends were asked, and int8 that is slower than `float32`.
fn note_speed(db: &dyn Db, unit: &Unit, report: &mut UnitReport) -> Result<(), Blocked> {
    let asked = !unit.program.partition.engines.is_empty();
    let nodes = if asked { unit.program.nodes(db)? } else { Vec::new() };
    report.fallback = Fallback::of(&nodes);
    let computes_int8 =
        unit.program.quantize.as_ref().is_some_and(|quantize| quantize.options.scheme.rounds_activations());
    if computes_int8 && nodes.iter().all(|node| node.partition.is_none()) {
        let note =
            "int8 on portable kernels is computed in float32 between conversions: slower than the model in float32";
        report.notes.push(note.to_owned());
    }
    Ok(())
}

/// What backends say of the device: the time of a run on the NPU, and layers in patches.
fn device_notes(db: &dyn Db, unit: &Unit) -> Result<Vec<String>, Blocked> {
    let PartitionOptions { engines, target, .. } = &unit.program.partition;
    if engines.is_empty() || (target.npu.is_none() && target.memory.is_none()) {
        return Ok(Vec::new());
    }
    let reports = unit.program.engine_reports(db)?;
    let devices: Vec<&DeviceReport> = reports.iter().flat_map(|(_, report)| &report.devices).collect();
    let patches = devices.iter().filter_map(|device| device.patches).map(in_patches);
    Ok(npu_time(&devices).into_iter().chain(patches).collect())
}

/// The time of a run on the NPU, by the estimate of its compiler.
fn npu_time(devices: &[&DeviceReport]) -> Option<String> {
    let estimates = devices.iter().filter_map(|device| device.npu.as_ref());
    let (cycles, milliseconds) = estimates
        .fold((0, 0.0), |(cycles, time), estimate| (cycles + estimate.cycles, time + estimate.microseconds() / 1e3));
    let sentence = format!("the NPU takes {cycles} cycles, {milliseconds:.3} ms, by the estimate of its compiler");
    (cycles > 0).then_some(sentence)
}

/// The layers that the memory of a board makes the processor compute in patches.
fn in_patches(Patches { layers, count, work }: Patches) -> String {
    let more = work.saturating_sub(100);
    format!("{layers} layers are computed in {count} patches with {more} % more work, to fit in memory")
}

/// What keeps the program from a binary of the target: kernels that the catalogue lacks, a program file that is larger than the bank
/// for constants, a prebuilt runtime that does not fit.
fn check_link(db: &dyn Db, unit: &Unit, emitted: &Staged) -> Result<(), Blocked> {
    let target = link::compile_target(unit.target.rust());
    let project = ProjectInputs::of(db, &unit.link, &target, emitted, Stage::Select)?;
    project.without_data().map_err(|found| Blocked::failed(Stage::Select, found))?;
    if unit.link.is_prebuilt() {
        unit.maker(db).map_err(|reason| Blocked::failed(Stage::Link, [*reason]))?;
    }
    Ok(())
}

/// Refuses what the board or `budget:` has no room for, whatever the kernels take.
fn check_room(db: &dyn Db, unit: &Unit, emitted: &Staged) -> Result<(), Blocked> {
    let file = program_bytes(emitted)?;
    let arenas = match unit.target.memory() {
        Some(memory) => link::read_interface(db, emitted)?.arenas() + memory.stack.0,
        None => 0,
    };
    let program = program_in_binary(db, unit, emitted)?;
    let least = SizeReport { program, arena: arenas, ..SizeReport::default() };
    let exceeded = budget::exceeded(&unit.recipe.budget, unit.target.kind(), file, &least, Known::AtLeast);
    let too_large = unit.target.memory().and_then(|memory| link::too_large(least.program, memory));
    if exceeded.is_empty() && too_large.is_none() {
        return Ok(());
    }
    let weights = weights(db, unit)?;
    let hint = |error: Diagnostic| {
        let need = Need { constants: least.program, tensors: 0 };
        weights.noted(error).help(what_fits(need, weights.saved_by_int8()))
    };
    let errors = exceeded.iter().map(|exceeded| exceeded.error(&weights)).chain(too_large.map(hint));
    Err(Blocked::failed(Stage::Emit, errors.collect::<Vec<_>>()))
}

/// The bytes of the program file, or those that firmware has of it.
fn program_in_binary(db: &dyn Db, unit: &Unit, emitted: &Staged) -> Result<u64, Blocked> {
    let blob = emitted.blob(ArtifactKind::ProgramFile)?;
    let method = link::read_interface(db, emitted)?.method().filter(|_| unit.target.memory().is_some());
    let Some(method) = method else { return Ok(blob.size) };
    program_in_firmware(&db.world().open_blob(&blob), &method.name)
        .map_err(|error| Blocked::failed(Stage::Emit, [link::link_error(&error)]))
}

/// The weights of the program.
fn weights(db: &dyn Db, unit: &Unit) -> Result<Weights, Blocked> {
    let (program, _) =
        unit.program.methods(db)?.load(db.world()).map_err(|found| Blocked::failed(Stage::Emit, found))?;
    Ok(Weights::of(&program))
}

/// The bytes of the program file and of the data files beside it.
fn program_bytes(emitted: &Staged) -> Result<u64, Blocked> {
    let data: u64 = data_files(emitted).iter().map(|(_, data)| data.size).sum();
    Ok(emitted.blob(ArtifactKind::ProgramFile)?.size + data)
}

fn check_budget(
    db: &dyn Db,
    unit: &Unit,
    emitted: &Staged,
    linked: &Staged,
    report: &mut UnitReport,
) -> Result<(), Blocked> {
    report.sizes = linked.optional_json(db.world(), ArtifactKind::Sizes)?;
    note_stack(linked.optional_json(db.world(), ArtifactKind::Stack)?, report);
    note_library(linked.optional_json(db.world(), ArtifactKind::LibraryUse)?, report);
    let sizes = report.sizes.unwrap_or_default();
    let file = program_bytes(emitted)?;
    let exceeded = budget::exceeded(&unit.recipe.budget, unit.target.kind(), file, &sizes, Known::Exactly);
    if exceeded.is_empty() {
        return Ok(());
    }
    let weights = weights(db, unit)?;
    Err(Blocked::failed(Stage::Link, exceeded.iter().map(|exceeded| exceeded.error(&weights)).collect::<Vec<_>>()))
}

/// Reports the stack of firmware, and why it has no bound.
fn note_stack(stack: Option<StackUse>, report: &mut UnitReport) {
    if let Some(StackUse::Unbounded { reason }) = &stack {
        report.notes.push(format!("the instructions of the firmware show no bound of the stack: {reason}"));
    }
    report.stack = stack;
}

/// Reports what the library of a board takes, and why its calls have no bound.
fn note_library(library: Option<LibraryUse>, report: &mut UnitReport) {
    if let Some(LibraryUse { stack: StackUse::Unbounded { reason }, .. }) = &library {
        report.notes.push(format!("the instructions of the library show no bound of the stack: {reason}"));
    }
    report.library = library;
}

/// The library with its header, and the files of the packages that a recipe asks for.
fn library_files(unit: &Unit, linked: &Staged) -> Result<Vec<Deliverable>, Blocked> {
    let name = unit.name();
    let file = |name: String, blob: BlobRef| Deliverable { name, blob, executable: false };
    let texts = linked.artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Package);
    let texts = texts.map(|artifact| artifact.blob());
    let Some(library) = linked.artifacts.get(ArtifactKind::Library) else {
        let names = web_package_names(unit.link.template());
        return Ok(names.zip(texts).map(|(name, text)| file(name.to_owned(), text)).collect());
    };
    let target = link::compile_target(unit.target.rust());
    let library = library.blob();
    let mut files = vec![file(LibraryForm::of(&target).linked_name(name), library)];
    if unit.target.memory().is_none() {
        files.extend(process_package_names(name, &target).into_iter().zip(texts).map(|(name, text)| file(name, text)));
        return Ok(files);
    }
    let header = linked.blob(ArtifactKind::Header)?;
    files.push(file(format!("{name}.h"), header));
    files.push(file(cmake_name(name), linked.blob(ArtifactKind::Cmake)?));
    let binaries = c_package_binaries(name, &target).into_iter().zip([header, library]);
    let package = c_package_names(name).zip(texts).chain(binaries);
    files.extend(package.map(|(name, blob)| file(format!("library/{name}"), blob)));
    Ok(files)
}

fn deliverables(unit: &Unit, emitted: &Staged, linked: &Staged) -> Result<Vec<Deliverable>, Blocked> {
    let name = unit.name();
    let program = emitted.blob(ArtifactKind::ProgramFile)?;
    let mut files = vec![Deliverable { name: format!("{name}.pte"), blob: program, executable: false }];
    if unit.target.has_binary() {
        let (binary, sizes) = (linked.blob(ArtifactKind::Binary)?, linked.blob(ArtifactKind::Sizes)?);
        files.insert(0, Deliverable { name: unit.target.binary_name(name), blob: binary, executable: true });
        files.push(Deliverable { name: "size.json".to_owned(), blob: sizes, executable: false });
    }
    for (ending, blob) in data_files(emitted) {
        files.push(Deliverable { name: format!("{name}.{ending}"), blob, executable: false });
    }
    if let Some(shared) = linked.artifacts.get(ArtifactKind::SharedLibrary) {
        let form = LibraryForm::of(&link::compile_target(unit.target.rust()));
        let name = form.loaded_name(name).unwrap_or_default();
        files.push(Deliverable { name, blob: shared.blob(), executable: false });
    }
    if let Some(package) = linked.artifacts.get(ArtifactKind::JavaPackage) {
        let target = link::compile_target(unit.target.rust());
        let ending = if target.is_android() { "aar" } else { "jar" };
        files.push(Deliverable { name: format!("{name}.{ending}"), blob: package.blob(), executable: false });
    }
    // The table names the first file.
    let place = if unit.target.has_binary() { files.len() } else { 0 };
    files.splice(place..place, library_files(unit, linked)?);
    if let Some(image) = linked.artifacts.get(ArtifactKind::Image) {
        files.push(Deliverable { name: format!("{name}.uf2"), blob: image.blob(), executable: false });
    }
    Ok(files)
}
