//! The graph of each method: a row per node in the order of execution, and lines from producers to readers.
//!
//! A line to the next row is straight. Other lines run in lanes at the left, like the branches of a version history: a producer
//! has a lane from its row to the row of its last reader, and shares the lane with no other producer in between.

use etbuild_engine::NodePlace;
use etbuild_inspect::UnitAnatomy;
use serde::Serialize;

use super::partition::{class, place_name};

/// Further nodes of a method are not drawn: the page stays small.
const MOST: usize = 1000;
/// The height of a row, in pixels. The style sheet has the same number.
const ROW: usize = 24;
/// The distance between lanes, in pixels.
const LANE: usize = 8;
/// Producers beyond this number of lanes share the leftmost lane.
const LANES: usize = 24;

/// The graph of a method.
#[derive(Serialize)]
pub struct View {
    method: String,
    rows: Vec<Row>,
    /// The width and height of the drawing, in pixels.
    width: usize,
    height: usize,
    /// The horizontal centre of the nodes, in pixels.
    column: usize,
    /// The lines, as path data.
    lines: Vec<String>,
    left_out: usize,
}

#[derive(Serialize)]
struct Row {
    operator: String,
    shape: String,
    module: String,
    place: String,
    class: &'static str,
    /// The vertical centre, in pixels.
    y: usize,
}

/// A graph for each method with nodes.
pub fn views(anatomy: &UnitAnatomy) -> Vec<View> {
    anatomy.nodes.chunk_by(|left, right| left.method == right.method).map(view).collect()
}

fn view(nodes: &[NodePlace]) -> View {
    let drawn = &nodes[..nodes.len().min(MOST)];
    let spans = spans(drawn);
    let lanes = lanes(&spans);
    // The nodes are to the right of the lanes.
    let column = (lanes.iter().max().map_or(0, |lane| lane + 1) + 1) * LANE;
    let mut lines: Vec<String> =
        straight(drawn).map(|row| format!("M{column} {}V{}", centre(row), centre(row + 1))).collect();
    lines.extend(spans.iter().zip(lanes).map(|(span, lane)| span.line(column, column - (lane + 1) * LANE)));
    View {
        method: nodes[0].method.clone(),
        rows: drawn.iter().enumerate().map(|(index, node)| row(index, node)).collect(),
        width: column + LANE,
        height: drawn.len() * ROW,
        column,
        lines,
        left_out: nodes.len() - drawn.len(),
    }
}

fn row(index: usize, node: &NodePlace) -> Row {
    Row {
        operator: node.operator.clone(),
        shape: node.shape.clone(),
        module: node.module.clone().unwrap_or_default(),
        place: place_name(node),
        class: class(node),
        y: centre(index),
    }
}

const fn centre(row: usize) -> usize {
    row * ROW + ROW / 2
}

/// The rows whose next row reads their result.
fn straight(nodes: &[NodePlace]) -> impl Iterator<Item = usize> {
    let readers = nodes.iter().enumerate().skip(1);
    readers.filter(|(row, node)| node.reads.contains(&(row - 1))).map(|(row, _)| row - 1)
}

/// The readers of a result beyond the next row.
struct Span {
    producer: usize,
    readers: Vec<usize>,
}

impl Span {
    fn last(&self) -> usize {
        self.readers.last().copied().unwrap_or(self.producer)
    }

    /// The path from the column of nodes through a lane to every reader.
    fn line(&self, column: usize, lane: usize) -> String {
        let half = ROW / 2;
        let start = centre(self.producer);
        let mut line =
            format!("M{column} {start}Q{lane} {start} {lane} {}V{}", start + half, centre(self.last()) - half);
        for reader in &self.readers {
            let end = centre(*reader);
            line += &format!("M{lane} {}Q{lane} {end} {column} {end}", end - half);
        }
        line
    }
}

fn spans(nodes: &[NodePlace]) -> Vec<Span> {
    let mut readers = vec![Vec::new(); nodes.len()];
    for (row, node) in nodes.iter().enumerate() {
        // A loop's first node may read the result of a later node.
        node.reads.iter().filter(|producer| **producer + 1 < row).for_each(|producer| readers[*producer].push(row));
    }
    let spans = readers.into_iter().enumerate().map(|(producer, readers)| Span { producer, readers });
    spans.filter(|span| !span.readers.is_empty()).collect()
}

/// The lane of each span: the nearest lane that is free from the producer on.
fn lanes(spans: &[Span]) -> Vec<usize> {
    let mut busy_until: Vec<usize> = Vec::new();
    let lane = |span: &Span| {
        let free = busy_until.iter().position(|end| *end <= span.producer);
        let lane = free.unwrap_or(busy_until.len()).min(LANES - 1);
        if lane == busy_until.len() {
            busy_until.push(0);
        }
        busy_until[lane] = busy_until[lane].max(span.last());
        lane
    };
    spans.iter().map(lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes that read the results of these nodes.
    fn nodes(reads: &[&[usize]]) -> Vec<NodePlace> {
        let node = |reads: &&[usize]| NodePlace {
            method: "forward".to_owned(),
            operator: "aten.add.Tensor".to_owned(),
            value: String::new(),
            shape: "float32[2]".to_owned(),
            reads: reads.to_vec(),
            module: None,
            work: 1,
            scalar_type: "float32".to_owned(),
            engine: None,
            partition: None,
            refusals: Vec::new(),
        };
        reads.iter().map(node).collect()
    }

    #[test]
    fn producers_share_a_lane_only_one_after_the_other() {
        let spans = spans(&nodes(&[&[], &[0], &[1], &[0, 2], &[1], &[4], &[4]]));
        let found: Vec<_> = spans.iter().map(|span| (span.producer, span.readers.clone())).collect();
        assert_eq!(found, [(0, vec![3]), (1, vec![4]), (4, vec![6])]);
        assert_eq!(lanes(&spans), [0, 1, 0]);
    }

    #[test]
    fn a_chain_has_straight_lines_alone() {
        let view = view(&nodes(&[&[], &[0], &[1]]));
        assert_eq!(view.lines, ["M8 12V36", "M8 36V60"]);
        assert_eq!((view.height, view.left_out), (72, 0));
    }

    #[test]
    fn results_of_later_nodes_and_many_lanes_are_drawn_inside() {
        let far: Vec<Vec<usize>> =
            (0..100).map(|row: usize| if row < 50 { vec![99] } else { vec![99 - row] }).collect();
        let reads: Vec<&[usize]> = far.iter().map(Vec::as_slice).collect();
        let view = view(&nodes(&reads));
        assert_eq!(view.width, (LANES + 2) * LANE);
    }
}
