//! Golden tests of partitioning (`tests/partitions/*.ir`), and random graphs.
//!
//! Four backends take part: `arith` accepts additions, multiplications, views and dequantization, `relu` accepts `relu`, `state` accepts additions
//! and writes to a KV cache, which it writes in place, and `int8` additions, quantization and dequantization, of which each partition has a copy. The option
//! `backends` lists the backends in order of preference; `most nodes` limits the size of partitions that `arith`
//! lowers.

use std::path::Path;
use std::sync::Mutex;

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_golden::{Case, check};
use etbuild_ir::text::parse;
use etbuild_ir::{DelegateCall, Dialect, Graph, Links, Lowered, LoweredProgram, Node, Program};
use etbuild_partition::{InMemory, NodeReport, Partitioned, Place, partition};

/// A backend for some operators. The blob is a byte, the number of nodes.
struct Only {
    name: &'static str,
    operators: &'static [&'static str],
    /// The largest partition that the backend lowers.
    most_nodes: usize,
    /// The lowered partitions, with the inputs that nothing reads behind the call.
    lowered: Mutex<Vec<(Graph, Vec<usize>)>>,
}

impl Only {
    const fn new(name: &'static str, operators: &'static [&'static str]) -> Self {
        Self { name, operators, most_nodes: usize::MAX, lowered: Mutex::new(Vec::new()) }
    }

    const fn arith() -> Self {
        Self::new(
            "arith",
            &["aten.add.Tensor", "aten.mul.Tensor", "aten.view_copy.default", "torchao.dequantize_affine.default"],
        )
    }

    const fn relu() -> Self {
        Self::new("relu", &["aten.relu.default"])
    }

    const fn int8() -> Self {
        Self::new(
            "int8",
            &[
                "aten.add.Tensor",
                "quantized_decomposed.quantize_per_tensor.default",
                "quantized_decomposed.dequantize_per_tensor.default",
            ],
        )
    }

    const fn state() -> Self {
        Self::new("state", &["aten.add.Tensor", "etbuild.write_cache.default"])
    }
}

impl Backend for Only {
    fn name(&self) -> &'static str {
        self.name
    }

    fn delegate_id(&self) -> &'static str {
        "Only"
    }

    fn device_crate(&self) -> &'static str {
        "et-only"
    }

    fn revision(&self) -> &'static str {
        "1"
    }

    fn facts(&self, _: &TargetFacts) -> Vec<(String, String)> {
        Vec::new()
    }

    fn runs_on(&self, _: &TargetFacts) -> bool {
        true
    }

    fn writes_state(&self) -> bool {
        self.name == "state"
    }

    fn copies_dequantization(&self) -> bool {
        self.name == "int8"
    }

    fn refusal(&self, _: &Links<'_>, node: &Node, _: &TargetFacts) -> Option<Refusal> {
        let known = self.operators.contains(&node.operator.as_str());
        (!known).then(|| Refusal::new(RefusalKind::Operator, format!("there is no `{}`", node.operator)))
    }

    fn lower(&self, graph: &Graph, target: &TargetFacts) -> Result<Blob, Refusal> {
        self.lower_over(graph, &[], target)
    }

    fn lower_over(&self, graph: &Graph, ended: &[usize], _: &TargetFacts) -> Result<Blob, Refusal> {
        if graph.nodes.len() > self.most_nodes {
            return Err(Refusal::new(RefusalKind::Partition, "too many nodes"));
        }
        self.lowered.lock().unwrap().push((graph.clone(), ended.to_vec()));
        let count = graph.nodes.len();
        Ok(Blob { bytes: vec![count as u8], scratch: 64 * count, ..Blob::default() })
    }
}

fn partitioned(program: Program, backends: &[&dyn Backend]) -> Partitioned {
    partition(LoweredProgram::verify(program).unwrap(), backends, &TargetFacts::default(), &InMemory).unwrap()
}

/// The program with its calls, the partition behind each call, and a line of the report per node.
fn run(case: &Case) -> Result<String, String> {
    let arith = Only { most_nodes: case.parsed_option("most nodes")?.unwrap_or(usize::MAX), ..Only::arith() };
    let (relu, state, int8) = (Only::relu(), Only::state(), Only::int8());
    let known: [&Only; 4] = [&arith, &relu, &state, &int8];
    let find = |name: &str| known.into_iter().find(|backend| backend.name == name);
    let names = case.option("backends").unwrap_or("arith").split(", ");
    let backends: Option<Vec<&Only>> = names.map(find).collect();
    let backends = backends.ok_or("the backends are `arith`, `relu`, `state` and `int8`")?;
    let contracts: Vec<&dyn Backend> = backends.iter().map(|backend| *backend as &dyn Backend).collect();
    let done = partitioned(case.program(), &contracts);
    let mut text = case.print(Lowered::NAME, done.program.program());
    for backend in backends {
        for (index, (graph, ended)) in backend.lowered.lock().unwrap().iter().enumerate() {
            let methods = [(format!("{}_{index}", backend.name), graph.clone())].into();
            text += &case.print("partition", &Program { methods });
            let name = |position: &usize| format!(" %{}", graph.value(graph.inputs[*position]).name);
            text += &format!("ended:{}\n", ended.iter().map(name).collect::<String>());
        }
    }
    Ok(done.report.iter().fold(text, |text, node| text + &line(node) + "\n"))
}

fn line(node: &NodeReport) -> String {
    let place = match node.place {
        Place::Backend(backend, index) => format!("partition {index} of {backend}"),
        Place::Portable => "portable".to_owned(),
        Place::Nowhere => "no instruction".to_owned(),
    };
    let refusals = node.refusals.iter();
    let refusals = refusals.map(|(backend, refusal)| format!("; {backend} ({}): {refusal}", refusal.kind.name()));
    format!("report {} %{}: {place}{}", node.operator, node.value, refusals.collect::<String>())
}

#[test]
fn programs_are_partitioned_as_expected() {
    check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/partitions")), run);
}

/// The verifier rejects a wrong order or a cycle, and the report covers every node.
#[test]
fn random_graphs_stay_in_order() {
    let mut seed = 1_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..200 {
        let mut text = "etbuild-ir 1 lowered\nmethod forward\n  input %v0: float32[2]\n".to_owned();
        let count = 1 + random(40);
        for index in 1..=count {
            let (left, right) = (random(index), random(index));
            text += &match random(3) {
                0 => format!("  %v{index}: float32[2] = aten.relu.default(%v{left})\n"),
                1 => format!("  %v{index}: float32[2] = aten.mul.Tensor(%v{left}, %v{right})\n"),
                _ => format!("  %v{index}: float32[2] = aten.add.Tensor(%v{left}, %v{right}, 1)\n"),
            };
        }
        text += &format!("  return %v{count}\n");
        let program = parse(&text, &mut |_| None).unwrap().1;
        let done = partitioned(program, &[&Only::arith(), &Only::relu()]);
        let nodes = &done.program.program().methods["forward"].nodes;
        let portable = done.report.iter().filter(|node| node.place == Place::Portable).count();
        assert_eq!(nodes.iter().filter(|node| DelegateCall::of(node).is_none()).count(), portable);
    }
}
