//! The sizes of the files by content: a treemap, the same as a list, and the changes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use etbuild_inspect::UnitAnatomy;
use serde::Serialize;

use super::treemap::{Rectangle, layout};
use super::{percent, share};
use crate::render::bytes;
use crate::report::{Change, DeployReport, Part, PartKind, Sizes};

/// The most tiles of the treemap; the smallest parts share a tile.
const TILES: usize = 240;

/// The most rows of the list.
const ROWS: usize = 500;

/// The proportions of the map.
const WHOLE: Rectangle = Rectangle { x: 0.0, y: 0.0, width: 160.0, height: 90.0 };

#[derive(Serialize)]
pub struct View {
    total: String,
    /// One sentence on the largest part.
    answer: String,
    groups: Vec<Group>,
    tiles: Vec<Tile>,
    rows: Vec<Row>,
    left_out: usize,
    kernels: Vec<String>,
}

/// All parts of a kind.
#[derive(Serialize)]
struct Group {
    name: &'static str,
    class: &'static str,
    size: String,
    share: String,
    width: String,
}

#[derive(Serialize)]
struct Tile {
    left: String,
    top: String,
    width: String,
    height: String,
    class: &'static str,
    label: String,
    title: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    kind: &'static str,
    class: &'static str,
    size: String,
    share: String,
    width: String,
}

/// A leaf of the map.
struct Leaf {
    kind: PartKind,
    name: String,
    size: u64,
    inside: bool,
}

const fn words(kind: PartKind) -> (&'static str, &'static str) {
    match kind {
        PartKind::Constant => ("Weights", "weights"),
        PartKind::Blob => ("Backends: packing, copies for other processors, instructions", "blob"),
        PartKind::Program => ("Program: instructions, names", "program"),
        PartKind::Code => ("Code: kernels and runtime", "code"),
        PartKind::Data => ("Data of the binary", "data"),
    }
}

pub fn view(sizes: &Sizes, anatomy: &UnitAnatomy) -> View {
    let mut leaves = leaves(sizes);
    leaves.sort_by_key(|leaf| (Reverse(leaf.size), leaf.name.clone()));
    let total: u64 = leaves.iter().map(|leaf| leaf.size).sum();
    let groups = groups(&leaves, total);
    View {
        total: bytes(total),
        answer: answer(&leaves, total),
        groups,
        left_out: leaves.len().saturating_sub(ROWS),
        rows: leaves
            .iter()
            .take(ROWS)
            .map(|leaf| row(leaf, leaves.first().map_or(0, |first| first.size), total))
            .collect(),
        tiles: tiles(leaves, total),
        kernels: anatomy.kernels.clone(),
    }
}

/// The parts, with blobs cut into the weights and the rest.
fn leaves(sizes: &Sizes) -> Vec<Leaf> {
    let leaf = |part: &Part, size: u64, inside: bool| Leaf { kind: part.kind, name: part.name.clone(), size, inside };
    let mut leaves = Vec::new();
    let mut within: BTreeMap<&str, Vec<&Part>> = BTreeMap::new();
    for part in &sizes.parts {
        part.within.iter().for_each(|outer| within.entry(outer).or_default().push(part));
    }
    for part in sizes.outermost() {
        let inside = within.get(part.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let counted: u64 = inside.iter().map(|inner| inner.size).sum();
        // A backend may keep weights in less space than the program did: the weights then share the space of the part.
        let fits = counted <= part.size;
        let scaled = |size: u64| if fits { size } else { (size as f64 * part.size as f64 / counted as f64) as u64 };
        leaves.extend(inside.iter().map(|inner| leaf(inner, scaled(inner.size), true)));
        let rest = if fits { part.size - counted } else { 0 };
        leaves.push(leaf(part, rest, false));
    }
    leaves.retain(|leaf| leaf.size > 0);
    leaves
}

fn answer(leaves: &[Leaf], total: u64) -> String {
    let of = |kind: PartKind| leaves.iter().filter(|leaf| leaf.kind == kind).map(|leaf| leaf.size).sum::<u64>();
    let (weights, code) = (of(PartKind::Constant), of(PartKind::Code) + of(PartKind::Data));
    let largest = leaves.iter().find(|leaf| leaf.kind == PartKind::Constant);
    let largest = largest.map(|leaf| format!(", the largest is {} with {}", leaf.name, bytes(leaf.size)));
    let added = Some(of(PartKind::Blob)).filter(|added| *added > 0);
    let added = added.map(|added| format!(" {} are added by backends;", share(added, total)));
    format!(
        "Of {}, {} are weights{};{} {} are the binary's own code and data.",
        bytes(total),
        share(weights, total),
        largest.unwrap_or_default(),
        added.unwrap_or_default(),
        share(code, total),
    )
}

fn groups(leaves: &[Leaf], total: u64) -> Vec<Group> {
    let kinds = [PartKind::Constant, PartKind::Blob, PartKind::Program, PartKind::Code, PartKind::Data];
    let group = |kind: PartKind| {
        let size: u64 = leaves.iter().filter(|leaf| leaf.kind == kind).map(|leaf| leaf.size).sum();
        let (name, class) = words(kind);
        let width = percent(size as f64, total as f64);
        (size > 0).then(|| Group { name, class, size: bytes(size), share: share(size, total), width })
    };
    kinds.into_iter().filter_map(group).collect()
}

fn row(leaf: &Leaf, largest: u64, total: u64) -> Row {
    let (_, class) = words(leaf.kind);
    Row {
        name: leaf.name.clone(),
        kind: match (leaf.kind, leaf.inside) {
            (PartKind::Constant, true) => "weight in a blob",
            (PartKind::Constant, false) => "weight",
            (PartKind::Blob, _) => "added by a backend",
            (PartKind::Program, _) => "program file",
            (PartKind::Code, _) => "instructions",
            (PartKind::Data, _) => "data of the binary",
        },
        class,
        size: bytes(leaf.size),
        share: share(leaf.size, total),
        width: percent(leaf.size as f64, largest as f64),
    }
}

/// The map: groups of a kind, with the parts of each group.
fn tiles(mut leaves: Vec<Leaf>, total: u64) -> Vec<Tile> {
    let rest = if leaves.len() > TILES { leaves.split_off(TILES) } else { Vec::new() };
    if !rest.is_empty() {
        let (size, name) = (rest.iter().map(|leaf| leaf.size).sum(), format!("{} smaller parts", rest.len()));
        leaves.push(Leaf { kind: PartKind::Program, name, size, inside: false });
    }
    let mut kinds: Vec<(PartKind, Vec<Leaf>)> = Vec::new();
    for leaf in leaves {
        match kinds.iter_mut().find(|(kind, _)| *kind == leaf.kind) {
            Some((_, of)) => of.push(leaf),
            None => kinds.push((leaf.kind, vec![leaf])),
        }
    }
    let sum = |of: &[Leaf]| of.iter().map(|leaf| leaf.size).sum::<u64>();
    kinds.sort_by_key(|(_, of)| Reverse(sum(of)));
    let sizes: Vec<f64> = kinds.iter().map(|(_, of)| sum(of) as f64).collect();
    let places = layout(&sizes, WHOLE);
    kinds.into_iter().zip(places).flat_map(|((_, of), place)| tiles_of(of, place, total)).collect()
}

fn tiles_of(mut leaves: Vec<Leaf>, place: Rectangle, total: u64) -> Vec<Tile> {
    leaves.sort_by_key(|leaf| Reverse(leaf.size));
    let sizes: Vec<f64> = leaves.iter().map(|leaf| leaf.size as f64).collect();
    leaves.iter().zip(layout(&sizes, place)).map(|(leaf, place)| tile(leaf, place, total)).collect()
}

fn tile(leaf: &Leaf, place: Rectangle, total: u64) -> Tile {
    let size = bytes(leaf.size);
    // Smaller tiles have no room for a word.
    let roomy = place.width > WHOLE.width / 20.0 && place.height > WHOLE.height / 20.0;
    Tile {
        left: percent(place.x, WHOLE.width),
        top: percent(place.y, WHOLE.height),
        width: percent(place.width, WHOLE.width),
        height: percent(place.height, WHOLE.height),
        class: words(leaf.kind).1,
        label: if roomy { format!("{} {size}", leaf.name) } else { String::new() },
        title: format!("{}: {size}, {}", leaf.name, share(leaf.size, total)),
    }
}

/// The changes.
#[derive(Serialize)]
pub struct Changes {
    before: String,
    now: String,
    growth: String,
    rows: Vec<Changed>,
    left_out: usize,
}

#[derive(Serialize)]
struct Changed {
    name: String,
    kind: &'static str,
    before: String,
    now: String,
    growth: String,
    grows: bool,
}

pub fn changes(report: &DeployReport, previous: &Sizes) -> Changes {
    let total = |sizes: &Sizes| sizes.program + sizes.binary;
    let now = report.sizes.as_ref().map_or(0, total);
    let growth = now.cast_signed() - total(previous).cast_signed();
    Changes {
        before: bytes(total(previous)),
        now: bytes(now),
        growth: signed(growth),
        rows: report.changes.iter().take(ROWS).map(changed).collect(),
        left_out: report.changes.len().saturating_sub(ROWS),
    }
}

fn changed(change: &Change) -> Changed {
    let size = |size: Option<u64>| size.map_or_else(|| "-".to_owned(), bytes);
    Changed {
        name: change.name.clone(),
        kind: words(change.kind).0,
        before: size(change.before),
        now: size(change.now),
        growth: signed(change.growth()),
        grows: change.growth() > 0,
    }
}

fn signed(growth: i64) -> String {
    let sign = if growth < 0 { "−" } else { "+" };
    format!("{sign}{}", bytes(growth.unsigned_abs()))
}
