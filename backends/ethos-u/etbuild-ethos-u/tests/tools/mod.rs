//! Arm's tools, which the tests run: a folder with `vela` of `ethos-u-vela` and `tosa_reference_model` of `tosa-tools`.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use et_ethos_u::{Blob, Port};
use etbuild_backend::{EthosU, NpuFacts, TargetFacts};
use etbuild_ethos_u::vela;
use etbuild_ethos_u::{Array, Graph, Kind, write};
use etbuild_ethos_u_model::{Executed, Fault, Memory};
use etbuild_golden::parse;

/// The folder that `ETBUILD_TEST_ETHOS` names.
///
/// # Panics
/// Without the variable, unless `ETBUILD_SKIP_ETHOS=1` is set.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ETBUILD_TEST_ETHOS").map(PathBuf::from);
    if folder.is_none() {
        let skips = std::env::var_os("ETBUILD_SKIP_ETHOS").is_some_and(|value| value == "1");
        assert!(skips, "set ETBUILD_TEST_ETHOS to the folder of Arm's tools, or ETBUILD_SKIP_ETHOS=1 to skip the test");
        eprintln!("skipped: needs Arm's tools");
    }
    // The backend finds Vela by `PATH`, or by `VELA`, as etbuild does.
    assert!(folder.is_none() || vela::version().is_ok(), "set VELA to Arm's Vela");
    folder
}

/// The programs of the golden tests, by name.
pub fn programs() -> Vec<(String, etbuild_ir::Graph)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let program = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let start = text.find("etbuild-ir").unwrap();
        let program = parse(text[start..].split("---").next().unwrap()).unwrap();
        (file.file_stem().unwrap().display().to_string(), program.methods.into_values().next().unwrap())
    };
    files.into_iter().map(program).collect()
}

/// Pseudo-random int8 inputs.
pub fn inputs(graph: &Graph, seed: u32) -> Vec<Array> {
    let mut state = seed;
    let mut random = |sizes: &[usize]| {
        let mut array = Array::zeros(Kind::Int8, sizes);
        for number in &mut array.numbers {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *number = i64::from((state >> 24) as u8 as i8);
        }
        array
    };
    graph.inputs.iter().map(|id| random(&graph.get(*id).sizes)).collect()
}

/// The outputs of Arm's reference model.
pub fn reference(tools: &Path, graph: &Graph, inputs: &[Array]) -> Vec<Array> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: String| folder.path().join(name);
    fs::write(at("graph.tosa".to_owned()), write(graph)).unwrap();
    for (index, input) in inputs.iter().enumerate() {
        fs::write(at(format!("in{index}.npy")), npy(input)).unwrap();
    }
    let list = |count: usize, name: &dyn Fn(usize) -> String| (0..count).map(name).collect::<Vec<_>>().join(",");
    let name = |ids: &[etbuild_ethos_u::TensorId], index: usize| graph.get(ids[index]).name.clone();
    let mut command = Command::new(tools.join("tosa_reference_model"));
    command.arg("--tosa_file").arg(at("graph.tosa".to_owned()));
    command.arg("--flatbuffer_dir").arg("/").arg("--output_dir").arg(folder.path());
    command.args(["--ifm_name", &list(inputs.len(), &|index| name(&graph.inputs, index))]);
    command.args(["--ifm_file", &list(inputs.len(), &|index| at(format!("in{index}.npy")).display().to_string())]);
    command.args(["--ofm_name", &list(graph.outputs.len(), &|index| name(&graph.outputs, index))]);
    command.args(["--ofm_file", &list(graph.outputs.len(), &|index| format!("out{index}.npy"))]);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let read = |(index, id): (usize, &etbuild_ethos_u::TensorId)| {
        let bytes = fs::read(at(format!("out{index}.npy"))).unwrap();
        let data = &bytes[10 + usize::from(bytes[8]) + 256 * usize::from(bytes[9])..];
        Array::of_bytes(Kind::Int8, &graph.get(*id).sizes, data).unwrap()
    };
    graph.outputs.iter().enumerate().map(read).collect()
}

/// A file of numpy.
fn npy(array: &Array) -> Vec<u8> {
    let sizes: String = array.sizes.iter().map(|size| format!("{size},")).collect();
    let mut header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({sizes}), }}");
    header.extend(std::iter::repeat_n(' ', 63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes.extend(array.bytes());
    bytes
}

/// A target with an NPU such as `u55-128`.
pub fn target(accelerator: &str, system_config: &str, memory_mode: &str) -> TargetFacts {
    let npu = EthosU {
        accelerator: accelerator.to_owned(),
        system_config: system_config.to_owned(),
        memory_mode: memory_mode.to_owned(),
        registers: 0x5810_2000,
    };
    TargetFacts { architecture: "thumb".to_owned(), npu: Some(NpuFacts::EthosU(npu)), ..TargetFacts::default() }
}

/// The NPU of a target.
pub fn accelerator(target: &TargetFacts) -> &str {
    let Some(NpuFacts::EthosU(npu)) = &target.npu else { panic!("the target has no Ethos-U") };
    &npu.accelerator
}

/// Targets of each series, with one core and with several.
pub fn targets() -> Vec<TargetFacts> {
    let u55 = ["u55-32", "u55-64", "u55-128", "u55-256"];
    let u55 = u55.map(|npu| target(npu, "Ethos_U55_High_End_Embedded", "Shared_Sram"));
    let u65 = ["u65-256", "u65-512"].map(|npu| target(npu, "Ethos_U65_High_End", "Sram_Only"));
    let u85 = ["u85-128", "u85-256", "u85-512", "u85-1024", "u85-2048"];
    let u85 = u85.map(|npu| target(npu, "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"));
    u55.into_iter().chain(u65).chain(u85).collect()
}

/// The outputs of a blob, whose command stream the model of the NPU executes.
pub fn execute(blob: &[u8], inputs: &[Array]) -> Result<Vec<Vec<u8>>, Fault> {
    let (outputs, executed) = try_execute(blob, inputs)?;
    assert!(executed.operations > 0);
    Ok(outputs)
}

/// The outputs of a blob, and the numbers of operations and copies of its command stream, which may be 0.
pub fn try_execute(blob: &[u8], inputs: &[Array]) -> Result<(Vec<Vec<u8>>, Executed), Fault> {
    let blob = Blob::read(blob).unwrap();
    let mut scratch = vec![0; blob.header().scratch as usize];
    let range = |port: Port| port.offset as usize..(port.offset + port.count) as usize;
    for (port, input) in blob.inputs().zip(inputs) {
        scratch[range(port)].copy_from_slice(&input.bytes());
    }
    let mut memory = Memory::of(blob.weights(), &mut scratch);
    let executed = etbuild_ethos_u_model::execute(blob.commands(), blob.header().config, &mut memory)?;
    Ok((blob.outputs().map(|port| scratch[range(port)].to_vec()).collect(), executed))
}
