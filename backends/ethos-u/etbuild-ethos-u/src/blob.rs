//! The blob of a compiled partition.

use et_ethos_u::{ALIGNMENT, Header, MAGIC, Port, VERSION};
use et_record::Record;
use etbuild_backend::EthosU;

use crate::lower::Lowered;
use crate::vela::{Compiled, Place};

/// The regions of a command stream: weights, scratch, fast scratch, and five that it does not use.
const REGIONS: usize = 8;
/// The port of flash, and the ports of SRAM, in the NPU's own numbers.
const FLASH_PORT: u32 = 3;
const SRAM_PORTS: [u32; 2] = [0, 1];
/// The memory mode that has all in SRAM.
const ALL_IN_SRAM: &str = "Sram_Only";

/// The bytes of a blob; `None` where inputs and outputs of compiler and graph differ.
pub fn write(lowered: &Lowered, compiled: &Compiled, npu: &EthosU) -> Option<Vec<u8>> {
    let Lowered { graph, outputs } = lowered;
    let has_sizes = |places: &[Place], ids: &[crate::tosa::TensorId]| {
        let counts = ids.iter().map(|id| graph.get(*id).sizes.iter().product::<usize>());
        places.len() == ids.len() && places.iter().map(|place| place.count).eq(counts)
    };
    if !has_sizes(&compiled.inputs, &graph.inputs) || !has_sizes(&compiled.outputs, &graph.outputs) {
        return None;
    }
    let mut ports: Vec<Port> = compiled.inputs.iter().map(|place| port(*place, None)).collect();
    for output in outputs {
        let qparams = output.dequantized.map(|qparams| (qparams.scale as f32, qparams.zero));
        ports.push(port(*compiled.outputs.get(output.position)?, qparams));
    }
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        config: compiled.commands.config,
        registers: npu.registers,
        regions: regions(npu),
        inputs: compiled.inputs.len() as u32,
        outputs: outputs.len() as u32,
        scratch: compiled.scratch as u32,
        commands_size: compiled.commands.bytes.len() as u32,
        weights_size: compiled.weights.len() as u32,
        cycles: u32::try_from(compiled.estimate.cycles).unwrap_or(u32::MAX),
        ..Header::default()
    };
    let aligned = |size: usize| size.next_multiple_of(ALIGNMENT);
    let commands = aligned(words(&header, &ports).len());
    let weights = aligned(commands + compiled.commands.bytes.len());
    (header.commands, header.weights) = (commands as u32, weights as u32);
    let mut bytes = words(&header, &ports);
    bytes.resize(commands, 0);
    bytes.extend_from_slice(&compiled.commands.bytes);
    bytes.resize(weights, 0);
    bytes.extend_from_slice(&compiled.weights);
    Some(bytes)
}

fn port(Place { offset, count }: Place, qparams: Option<(f32, i32)>) -> Port {
    let (scale, zero) = qparams.unwrap_or_default();
    Port { offset: offset as u32, count: count as u32, scale, zero }
}

fn words(header: &Header, ports: &[Port]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |word: u32| bytes.extend_from_slice(&word.to_le_bytes());
    header.write(&mut put);
    ports.iter().for_each(|port| port.write(&mut put));
    bytes
}

/// The memory port of each region, two bits each.
fn regions(npu: &EthosU) -> u32 {
    let weights = if npu.memory_mode == ALL_IN_SRAM { SRAM_PORTS[0] } else { FLASH_PORT };
    let ports = [weights, SRAM_PORTS[0]].into_iter().chain([SRAM_PORTS[1]; REGIONS - 2]);
    ports.enumerate().fold(0, |word, (region, port)| word | port << (2 * region))
}
