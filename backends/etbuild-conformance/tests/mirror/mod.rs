//! A backend for tests: its blob is the partition itself, which its delegate interprets with the portable kernels. A
//! difference from the program without backends is then a fault of partition, memory plan or runtime.
#![allow(dead_code)] // Each test uses a part.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use et_core::{Args, Error, Output, Result};
use et_module::Engine;
use et_ops::call::OwnedTensor;
use et_runtime::{Delegate, DelegateSetup, Workers};
use etbuild_backend::{ALIGNMENT, Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::text::{parse, print};
use etbuild_ir::{ConstantData, Dialect, Digest, Graph, Links, Lowered, Node, Program, interpret};

/// The backend for operators whose names contain a word of the list.
pub struct Mirror {
    pub name: &'static str,
    pub words: &'static [&'static str],
}

/// Accepts every operator.
pub static MIRROR: Mirror = Mirror { name: "mirror", words: &[""] };
/// For some operators.
pub static PARTLY: Mirror = Mirror { name: "partly", words: &["addmm", "conv", "add", "mul"] };

/// The delegate id of both backends.
pub const ID: &str = "EtbuildMirror";

/// The delegate of both backends.
pub static ENGINES: &[Engine] = &[Engine { id: ID, make: |host| Box::new(delegate(host.workers)), problem: || None }];

/// The size of the scratch argument in bytes.
const SCRATCH: usize = 1_000;

impl Backend for Mirror {
    fn name(&self) -> &'static str {
        self.name
    }

    fn delegate_id(&self) -> &'static str {
        ID
    }

    fn device_crate(&self) -> &'static str {
        "et-mirror"
    }

    fn revision(&self) -> &'static str {
        "1"
    }

    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        vec![("architecture".to_owned(), target.architecture.clone())]
    }

    fn runs_on(&self, _: &TargetFacts) -> bool {
        true
    }

    fn refusal(&self, _: &Links<'_>, node: &Node, _: &TargetFacts) -> Option<Refusal> {
        let known = self.words.iter().any(|word| node.operator.as_str().contains(word));
        (!known).then(|| Refusal::new(RefusalKind::Operator, format!("the mirror does not show `{}`", node.operator)))
    }

    fn lower(&self, graph: &Graph, _: &TargetFacts) -> std::result::Result<Blob, Refusal> {
        let methods = BTreeMap::from([("partition".to_owned(), graph.clone())]);
        let text = print(Lowered::NAME, &Program { methods });
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend(text.as_bytes());
        graph.for_each_data(&mut |data| {
            bytes.extend((data.bytes().len() as u64).to_le_bytes());
            bytes.extend(data.bytes());
        });
        Ok(Blob { bytes, scratch: SCRATCH, ..Blob::default() })
    }
}

/// The delegate of a blob.
pub fn delegate(_: &dyn Workers) -> Reflection {
    Reflection::default()
}

#[derive(Default)]
pub struct Reflection {
    graph: OnceCell<Graph>,
}

impl<'a> Delegate<'a> for Reflection {
    fn init(&self, setup: &DelegateSetup<'a>) -> Result<()> {
        if !setup.blob.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return Err(Error::InvalidState);
        }
        let graph = read(setup.blob).ok_or(Error::InvalidProgram)?;
        self.graph.set(graph).map_err(|_| Error::InvalidState)
    }

    fn execute(&self, args: &Args<'a, '_>) -> Result<()> {
        let graph = self.graph.get().ok_or(Error::InvalidState)?;
        let (inputs, outputs) = (graph.inputs.len(), graph.outputs.len());
        let mut values = BTreeMap::new();
        for (index, id) in graph.inputs.iter().enumerate() {
            values.insert(graph.value(*id).name.clone(), owned(args, index)?);
        }
        // Overwrites the scratch first: a tensor that shares memory with the scratch is damaged before the delegate
        // reads the tensor.
        let scratch = args.tensor(inputs + outputs)?.bytes_mut()?;
        if scratch.len() != SCRATCH || args.len() != inputs + outputs + 1 {
            return Err(Error::InvalidArgument);
        }
        write(scratch, &[0xa5; SCRATCH]);
        let results = interpret(graph, &values).map_err(|_| Error::Internal)?;
        for (index, result) in results.iter().enumerate() {
            let output = args.tensor(inputs + index)?.bytes_mut()?;
            if output.len() != result.bytes.len() {
                return Err(Error::InvalidArgument);
            }
            write(output, &result.bytes);
        }
        Ok(())
    }
}

fn owned(args: &Args<'_, '_>, index: usize) -> Result<OwnedTensor> {
    let tensor = args.tensor(index)?;
    let bytes = tensor.bytes()?.iter().collect();
    Ok(OwnedTensor { scalar_type: tensor.scalar_type(), sizes: tensor.shape().sizes().to_vec(), bytes })
}

fn write(output: Output<'_, u8>, bytes: &[u8]) {
    bytes.iter().enumerate().for_each(|(index, byte)| output.set(index, *byte));
}

/// The graph in a blob.
fn read(blob: &[u8]) -> Option<Graph> {
    let mut parts = Vec::new();
    let mut rest = blob;
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        parts.push(behind.get(..length)?);
        rest = behind.get(length..)?;
    }
    let (text, constants) = parts.split_first()?;
    let constants: BTreeMap<Digest, &[u8]> = constants.iter().map(|bytes| (Digest::of(bytes), *bytes)).collect();
    let mut find = |digest: Digest| Some(ConstantData::new(constants.get(&digest)?.to_vec()));
    let (_, program) = parse(std::str::from_utf8(text).ok()?, &mut find).ok()?;
    program.methods.into_values().next()
}

/// A delegate that leaves its outputs unchanged.
pub static SILENT: &[Engine] = &[Engine { id: ID, make: |_| Box::new(Silent), problem: || None }];

struct Silent;

impl<'a> Delegate<'a> for Silent {
    fn init(&self, _: &DelegateSetup<'a>) -> Result<()> {
        Ok(())
    }

    fn execute(&self, _: &Args<'a, '_>) -> Result<()> {
        Ok(())
    }
}

/// A backend whose delegates fail to load, and a backend whose delegates fail to execute, with words.
pub static FAILING: [&[Engine]; 2] = [
    &[Engine { id: ID, make: |_| Box::new(Failing { loads: false }), problem: || Some("no mirror".to_owned()) }],
    &[Engine { id: ID, make: |_| Box::new(Failing { loads: true }), problem: || Some("it broke".to_owned()) }],
];

struct Failing {
    loads: bool,
}

impl<'a> Delegate<'a> for Failing {
    fn init(&self, _: &DelegateSetup<'a>) -> Result<()> {
        if self.loads { Ok(()) } else { Err(Error::NotSupported) }
    }

    fn execute(&self, _: &Args<'a, '_>) -> Result<()> {
        Err(Error::Internal)
    }
}
