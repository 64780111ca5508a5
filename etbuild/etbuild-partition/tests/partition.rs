//! Programs through the partitioner, with an engine that takes what its name says.

use std::collections::BTreeMap;

use etbuild_backend::{Backend, Blob, Refusal, RefusalKind, TargetFacts};
use etbuild_ir::text::{parse, print};
use etbuild_ir::{ConstantData, Dialect, Graph, Links, Lowered, LoweredProgram, Node};
use etbuild_partition::{InMemory, Partitioned, Place, partition};

/// An engine for some operators. Its blob is the partition as text.
struct Only {
    name: &'static str,
    operators: &'static [&'static str],
    /// The most nodes that it lowers at once.
    most: usize,
}

const CHAINS: Only = Only {
    name: "chains",
    operators: &["aten.add.Tensor", "aten.mul.Tensor", "aten.view_copy.default"],
    most: usize::MAX,
};
const RELU: Only = Only { name: "relu", operators: &["aten.relu.default"], most: usize::MAX };

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

    fn refusal(&self, _: &Links<'_>, node: &Node, _: &TargetFacts) -> Option<Refusal> {
        let known = self.operators.contains(&node.operator.as_str());
        (!known).then(|| Refusal::new(RefusalKind::Operator, format!("there is no `{}`", node.operator)))
    }

    fn lower(&self, graph: &Graph, _: &TargetFacts) -> Result<Blob, Refusal> {
        if graph.nodes.len() > self.most {
            return Err(Refusal::new(RefusalKind::Partition, "too many nodes"));
        }
        let methods = BTreeMap::from([("partition".to_owned(), graph.clone())]);
        let text = print(Lowered::NAME, &etbuild_ir::Program { methods });
        Ok(Blob { bytes: text.into_bytes(), scratch: 64 * graph.nodes.len(), ..Blob::default() })
    }
}

fn partitioned(body: &str, engines: &[&dyn Backend]) -> Partitioned {
    let text = format!("etbuild-ir 1 lowered\nmethod forward\n{body}");
    let program = parse(&text, &mut |_| Some(ConstantData::new(vec![0_u8; 4]))).unwrap().1;
    partition(LoweredProgram::verify(program).unwrap(), engines, &TargetFacts::default(), &InMemory).unwrap()
}

fn operators(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.operator.as_str()).collect()
}

/// The partitions as text, in the order of their calls.
fn blobs(graph: &Graph) -> Vec<String> {
    let calls = graph.nodes.iter().filter_map(etbuild_ir::DelegateCall::of);
    calls.map(|call| String::from_utf8(call.blob_data(graph).unwrap().bytes().to_vec()).unwrap()).collect()
}

#[test]
fn a_whole_graph_is_one_call_with_its_constants_inside() {
    let done = partitioned(
        "  input %x: float32[1]
  constant %w: float32[1] = \"w\" b3:ec2bd03bf86b935fa34d71ad7ebb049f1f10f87d343e521511d8f9e6625620cd
  %a: float32[1] = aten.mul.Tensor(%x, %w)
  %b: float32[1] = aten.add.Tensor(%a, %x, 1)
  return %b
",
        &[&CHAINS],
    );
    let graph = &done.program.program().methods["forward"];
    let text = print(Lowered::NAME, done.program.program());
    assert!(text.contains("= delegate.chains.default(%chains_blob, values[%x])"), "{text}");
    assert!(text.contains("uint8[128]") && !text.contains("%w"), "{text}");
    assert_eq!(graph.outputs, graph.nodes[0].outputs[..1]);
    assert!(blobs(graph)[0].contains("return %b") && blobs(graph)[0].contains("constant %w"));
    assert!(done.report.iter().all(|node| node.place == Place::Engine("chains", 0) && node.refusals.is_empty()));
}

#[test]
fn a_way_out_and_back_in_separates_partitions() {
    let done = partitioned(
        "  input %x: float32[2]
  %a: float32[2] = aten.add.Tensor(%x, %x, 1)
  %r: float32[2] = aten.relu.default(%a)
  %c: float32[2] = aten.mul.Tensor(%x, %x)
  %d: float32[2] = aten.mul.Tensor(%a, %c)
  %e: float32[2] = aten.add.Tensor(%d, %r, 1)
  return %e
",
        &[&CHAINS],
    );
    let graph = &done.program.program().methods["forward"];
    assert_eq!(operators(graph), ["delegate.chains.default", "aten.relu.default", "delegate.chains.default"]);
    assert!(blobs(graph)[0].ends_with("return %a\n") && blobs(graph)[1].ends_with("return %e\n"));
    let places: Vec<Place> = done.report.iter().map(|node| node.place).collect();
    let [first, second] = [0, 1].map(|index| Place::Engine("chains", index));
    assert_eq!(places, [first, Place::Portable, second, second, second]);
    assert_eq!(done.report[1].refusals[0].1.reason, "there is no `aten.relu.default`");
}

#[test]
fn what_is_needed_late_waits_for_it() {
    let done = partitioned(
        "  input %x: float32[2]
  input %m: float32[2]
  %mask: float32[2] = aten.mul.Tensor(%m, %m)
  %far: float32[2] = aten.add.Tensor(%mask, %m, 1)
  %r: float32[2] = aten.relu.default(%x)
  %a: float32[2] = aten.add.Tensor(%r, %far, 1)
  return %a
",
        &[&CHAINS],
    );
    let found = operators(&done.program.program().methods["forward"]);
    assert_eq!(found, ["aten.relu.default", "delegate.chains.default"]);
}

#[test]
fn what_shares_an_operand_stays_with_it() {
    let done = partitioned(
        "  input %x: float32[2]
  %operand: float32[2] = aten.add.Tensor(%x, %x, 1)
  %key: float32[2] = aten.mul.Tensor(%operand, %x)
  %query: float32[2] = aten.mul.Tensor(%operand, %operand)
  %r: float32[2] = aten.relu.default(%key)
  %a: float32[2] = aten.add.Tensor(%query, %r, 1)
  return %a
",
        &[&CHAINS],
    );
    let graph = &done.program.program().methods["forward"];
    assert_eq!(operators(graph), ["delegate.chains.default", "aten.relu.default", "delegate.chains.default"]);
    assert!(blobs(graph)[0].ends_with("return %key, %query\n"), "{}", blobs(graph)[0]);
}

#[test]
fn the_next_engine_gets_what_is_left() {
    let done = partitioned(
        "  input %x: float32[2]
  %a: float32[2] = aten.add.Tensor(%x, %x, 1)
  %r: float32[2] = aten.relu.default(%a)
  return %r
",
        &[&CHAINS, &RELU],
    );
    let graph = &done.program.program().methods["forward"];
    assert_eq!(operators(graph), ["delegate.chains.default", "delegate.relu.default"]);
    assert_eq!(done.report[1].place, Place::Engine("relu", 1));
    assert_eq!(done.report[1].refusals[0].0, "chains");
}

#[test]
fn views_alone_are_no_partition() {
    let done = partitioned(
        "  input %x: float32[2]
  %r: float32[2] = aten.relu.default(%x)
  %v: float32[1, 2] = aten.view_copy.default(%r, [1, 2])
  return %v
",
        &[&CHAINS],
    );
    assert_eq!(operators(&done.program.program().methods["forward"]), ["aten.relu.default", "aten.view_copy.default"]);
    assert_eq!(done.report[1].refusals[0].1.kind, RefusalKind::Gain);
    assert_eq!(done.report[1].place, Place::Nowhere);
}

#[test]
fn what_cannot_be_lowered_stays_with_a_reason() {
    let small = Only { most: 0, ..CHAINS };
    let done = partitioned(
        "  input %x: float32[2]
  %a: float32[2] = aten.add.Tensor(%x, %x, 1)
  return %a
",
        &[&small],
    );
    assert_eq!(operators(&done.program.program().methods["forward"]), ["aten.add.Tensor"]);
    assert_eq!(done.report[0].refusals, [("chains", Refusal::new(RefusalKind::Partition, "too many nodes"))]);
}

#[test]
fn nothing_moves_across_labels_and_jumps() {
    let done = partitioned(
        "  input %x: float32[2]
  input %c: bool[]
  %a: float32[2] = aten.add.Tensor(%x, %x, 1)
  () = control.jump_if_false.default(%c, 0)
  %b: float32[2] = aten.mul.Tensor(%a, %a)
  %d: float32[2] = aten.mul.Tensor(%b, %b)
  () = control.label.default(0)
  %e: float32[2] = aten.mul.Tensor(%a, %a)
  return %e
",
        &[&CHAINS],
    );
    let call = "delegate.chains.default";
    let jump = "control.jump_if_false.default";
    let found = operators(&done.program.program().methods["forward"]);
    assert_eq!(found, [call, jump, "aten.mul.Tensor", "aten.mul.Tensor", "control.label.default", call]);
}

#[test]
fn sizes_that_move_stay_outside() {
    let done = partitioned(
        "  input %x: float32[1..4]
  %a: float32[1..4] = aten.add.Tensor(%x, %x, 1)
  return %a
",
        &[&CHAINS],
    );
    assert_eq!(done.report[0].refusals[0].1.kind, RefusalKind::DynamicShape);
}

/// Many random graphs: the result is verified, which a wrong order or a cycle would not pass, and every node is somewhere.
#[test]
fn random_graphs_stay_in_order() {
    let mut seed = 1_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..200 {
        let mut body = "  input %v0: float32[2]\n".to_owned();
        let count = 1 + random(40);
        for index in 1..=count {
            let (left, right) = (random(index), random(index));
            body += &match random(3) {
                0 => format!("  %v{index}: float32[2] = aten.relu.default(%v{left})\n"),
                1 => format!("  %v{index}: float32[2] = aten.mul.Tensor(%v{left}, %v{right})\n"),
                _ => format!("  %v{index}: float32[2] = aten.add.Tensor(%v{left}, %v{right}, 1)\n"),
            };
        }
        body += &format!("  return %v{count}\n");
        let done = partitioned(&body, &[&CHAINS, &RELU]);
        let left = operators(&done.program.program().methods["forward"]);
        let whole = done.report.iter().filter(|node| matches!(node.place, Place::Portable)).count();
        assert_eq!(left.iter().filter(|operator| operator.starts_with("aten.")).count(), whole);
    }
}
