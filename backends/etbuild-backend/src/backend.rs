//! The contract.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use et_ops::call::OwnedTensor;
use etbuild_ir::{Graph, Links, Node};

use crate::{Blob, Compiler, Refusal, RefusalKind, TargetFacts};

/// What a device computes, with the device's own rounding, on the machine of the build.
#[derive(Clone, Copy)]
pub struct Simulation {
    /// The outputs of a graph that runs on the device as a whole, for inputs by name.
    pub outputs: Outputs,
    /// A backend of the same name and with the same partitions, whose delegate this machine executes without the vendor's compiler.
    pub backend: &'static dyn Backend,
}

/// The outputs of a graph for inputs by name.
pub type Outputs = fn(&Graph, &BTreeMap<String, OwnedTensor>) -> Result<Vec<OwnedTensor>, Refusal>;

/// A backend: executes parts of programs. Every answer is a function of the arguments alone, so that builds are
/// reproducible.
pub trait Backend: Send + Sync {
    /// The backend's name in recipes (`partition:`), such as `cpu`: lower-case letters, digits and `_`.
    fn name(&self) -> &'static str;

    /// The delegate's id in program files, such as `EtbuildCpu`; equals the device crate's `ID`.
    fn delegate_id(&self) -> &'static str;

    /// The crate that executes the blobs on a device, such as `et-cpu`. The crate exports `pub const ID: &str` and `pub
    /// fn delegate(workers: &dyn Workers) -> impl Delegate`.
    fn device_crate(&self) -> &'static str;

    /// Whether the device crate exports `pub fn problem() -> Option<String>`, the last failure of a delegate call of the process
    /// in words: messages of failures then end in these words.
    fn explains_failures(&self) -> bool {
        false
    }

    /// Whether the device crate exports `pub fn reporting_delegate(workers, listen)`, a delegate that reports each of its instructions
    /// to `listen`. A call of another delegate is one event of a trace.
    fn reports_instructions(&self) -> bool {
        false
    }

    /// Whether the device crate opens libraries of the device at run time, which a static binary cannot.
    fn opens_libraries(&self) -> bool {
        false
    }

    /// The frameworks of Apple's systems that the device crate calls, by name.
    fn frameworks(&self) -> &'static [&'static str] {
        &[]
    }

    /// Environment variables by which the device crate finds the libraries of the device, for a run in the folder of the binary:
    /// names with values, in which `.` is that folder.
    fn device_variables(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The Cargo features of the device crate that executing a blob of [`Backend::lower`] requires. A binary enables
    /// the union over the blobs of its program, without default features. Empty for a crate without optional kernels.
    fn device_features(&self, _blob: &[u8]) -> BTreeSet<&'static str> {
        BTreeSet::new()
    }

    /// A text that changes whenever [`Backend::lower`], [`Backend::refusal`] or [`Backend::device_features`] may answer
    /// differently, such as the digest of the backend's sources: it is part of the action key of delegation.
    fn revision(&self) -> &'static str;

    /// The vendor's compiler that [`Backend::lower`] loads; `None` for a backend that needs none.
    fn compiler(&self) -> Option<&'static Compiler> {
        None
    }

    /// What the device computes, without the vendor's compiler; `None` for a backend without a simulation.
    fn simulation(&self) -> Option<Simulation> {
        None
    }

    /// The target facts that lowering reads, by name: targets with equal facts share the cached partitions.
    fn facts(&self, target: &TargetFacts) -> Vec<(String, String)>;

    /// Whether the backend runs anything on the target: `partition: auto` asks only such backends.
    fn runs_on(&self, target: &TargetFacts) -> bool;

    /// Whether the device executes partitions of the backend that a recipe asks for by name: prebuilt runtimes have the delegate then.
    fn executes_on(&self, target: &TargetFacts) -> bool {
        self.runs_on(target)
    }

    /// Why the node cannot run there; `None` where it can. Constant operands, and what computes the others, can be read from
    /// the graph. What only the neighbourhood of a node decides, such as a fusion, must not make the node's lowering fail.
    fn refusal(&self, links: &Links<'_>, node: &Node, target: &TargetFacts) -> Option<Refusal>;

    /// Whether a matrix of integers in groups is multiplied by rows of int8, with scales found at run time, faster than by rows of `float32`.
    fn multiplies_int8_rows(&self) -> bool {
        false
    }

    /// Whether the delegate writes state in place: such nodes are judged like others then. The state is an input of the partition,
    /// and an output in the same memory.
    fn writes_state(&self) -> bool {
        false
    }

    /// Whether the delegate writes the state behind a chunk over the state ahead of it, for operators with a state of one size: the state is an
    /// input of the partition, and an output in the same memory, where the method allows it.
    fn steps_states(&self) -> bool {
        false
    }

    /// Whether the backend has [`Backend::lower_dynamic`]: nodes with dynamic sizes are judged like others then, at sample sizes.
    fn has_dynamic_sizes(&self) -> bool {
        false
    }

    /// Lowers a partition with dynamic sizes to a blob for all sizes. `samples` are the partition at different sizes, with
    /// static sizes and without numbers; `bounds` has the dynamic sizes and their limits.
    ///
    /// # Errors
    /// As of [`Backend::lower`].
    fn lower_dynamic(&self, _samples: &[Graph], _bounds: &Graph, _target: &TargetFacts) -> Result<Blob, Refusal> {
        Err(Refusal::new(RefusalKind::DynamicShape, "the backend computes static sizes only"))
    }

    /// Whether each partition dequantizes what it reads, also where another partition dequantizes the same tensor: the integers cross the
    /// border of the partitions, and not their `float32` numbers.
    fn copies_dequantization(&self) -> bool {
        false
    }

    /// Whether the partitions of all methods of a program become one blob, by [`Backend::join`]: a vendor's compiler then stores weights of
    /// several methods once.
    fn joins(&self) -> bool {
        false
    }

    /// Which part of a partition each of its nodes belongs to, where the device of a backend that [joins](Backend::joins) cannot load a
    /// partition of any size: each part becomes a partition of its own. A part reads results of lower numbers only. Empty for a partition that stays whole.
    fn parts(&self, _graph: &Graph, _target: &TargetFacts) -> Vec<usize> {
        Vec::new()
    }

    /// The partitions of all methods that [`Backend::join`] makes one blob each of, by position; each position is in one group.
    ///
    /// # Errors
    /// Blobs that [`Backend::lower`] did not make.
    fn groups(&self, parts: &[&[u8]], _target: &TargetFacts) -> Result<Vec<Vec<usize>>, Refusal> {
        Ok(vec![(0..parts.len()).collect()])
    }

    /// The target facts that [`Backend::join`] reads, by name, if they are more than [`Backend::facts`].
    fn join_facts(&self, target: &TargetFacts) -> Vec<(String, String)> {
        self.facts(target)
    }

    /// The one blob of several partitions. The delegate of each gets the position of its partition as the compile spec `graph`.
    /// `parts` are blobs of [`Backend::lower`] without weights and scratch, which no device executes.
    ///
    /// # Errors
    /// Partitions that cannot be compiled together.
    fn join(&self, _parts: &[&[u8]], _target: &TargetFacts) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::new(RefusalKind::Partition, "the backend does not join partitions"))
    }

    /// Lowers a partition: a graph of accepted nodes, whose inputs and outputs are the delegate call's.
    ///
    /// # Errors
    /// A partition that cannot be lowered as a whole. Its nodes stay with the next backend, with this reason.
    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal>;

    /// Lowers a partition as [`Backend::lower`] does. Nothing reads the inputs at the positions `ended` after the call, so that the call may write
    /// anything into their memory.
    ///
    /// # Errors
    /// As of [`Backend::lower`].
    fn lower_over(&self, graph: &Graph, _ended: &[usize], target: &TargetFacts) -> Result<Blob, Refusal> {
        self.lower(graph, target)
    }
}

impl fmt::Debug for dyn Backend + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Backend({})", self.name())
    }
}
