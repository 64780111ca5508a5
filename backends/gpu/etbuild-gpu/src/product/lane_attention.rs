//! Attention on a GPU: a workgroup has some rows of queries, its lanes have a key each, and then slices of the values.
//!
//! Keys are taken in chunks, and sums are rescaled whenever a chunk has a greater score (Dao et al. 2022), so that no scores are stored.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place};
use crate::expr::ExprId;
use crate::kernel::{Entry, Kernel};
use crate::store::counted_coordinates;
use crate::tensor::TEXEL;

use super::attention::Attention;
use super::{Epilogue, Scope, Target};

/// The rows of a workgroup where there are more rows than compute units, of which the first that fit workgroup memory are taken.
const ROWS: [usize; 2] = [8, 4];

/// The lanes of a workgroup with several rows, and with one.
const LANES: [usize; 2] = [128, 256];

/// The kernel under construction.
pub struct LaneAttention<'p> {
    attention: &'p Attention,
    scope: Scope<'p>,
    epilogue: &'p Epilogue<'p>,
    rows: usize,
    lanes: usize,
    /// The lanes with neighbouring slices of the values.
    across: usize,
}

/// The most loads that a lane has under way.
const TOGETHER: usize = 8;

/// The steps of a loop of `count` steps whose loads a lane issues together.
fn together(count: usize) -> usize {
    (1..=TOGETHER).rev().find(|steps| count.is_multiple_of(*steps)).unwrap_or(1)
}

/// An expression at the four places of a slice, as a vector.
fn vector(emitter: &mut Emitter<'_>, expr: ExprId, places: &[Place]) -> String {
    let values: Vec<String> = emitter.values(expr, places).iter().map(Value::text).collect();
    emitter.variable(&format!("vec4<f32>({})", values.join(", ")))
}

/// The bytes of workgroup memory for so many rows: the queries, and a number and a vector for each lane.
fn bytes(attention: &Attention, rows: usize) -> usize {
    let vector = TEXEL * size_of::<f32>();
    rows * (attention.extents[0].div_ceil(TEXEL) * vector + LANES[0] * (vector + size_of::<f32>()))
}

impl<'p> LaneAttention<'p> {
    /// The kernel for a GPU with so many compute units; none without units, and for values that are wider than the lanes.
    pub fn of(attention: &'p Attention, scope: Scope<'p>, epilogue: &'p Epilogue<'p>, units: usize) -> Option<Self> {
        let has_many = attention.rows() > 1 && attention.rows() * attention.batches() >= ROWS[0] * units;
        let most = scope.profile.workgroup_memory();
        let (rows, lanes) = match ROWS.into_iter().find(|rows| bytes(attention, *rows) <= most) {
            Some(rows) if has_many => (rows, LANES[0]),
            _ => (1, LANES[1]),
        };
        let across = attention.slices().next_power_of_two();
        (units > 0 && across <= lanes).then_some(Self { attention, scope, epilogue, rows, lanes, across })
    }

    /// Writes the kernel.
    pub fn kernel(&self) -> Kernel {
        let attention = self.attention;
        let mut emitter = Emitter::new(self.scope);
        let at = self.begin(&mut emitter);
        let [queries, powers, parts] = self.workgroup_memory(&mut emitter);
        self.stage_queries(&mut emitter, &at, &queries);
        let keys = self.keys(&mut emitter, &at);
        let (start, stride) = match attention.parts {
            1 => ("0i".to_owned(), self.lanes),
            parts => (format!("{} * {}i", at[0][0].text(), self.lanes), parts * self.lanes),
        };
        emitter.open(&format!("for (var first: i32 = {start}; first < {keys}; first = first + {stride}i)"));
        self.scores(&mut emitter, &at, &queries, &keys);
        self.rescale(&mut emitter, &powers);
        self.add_values(&mut emitter, &at, &powers, &keys);
        emitter.close("");
        self.reduce(&mut emitter, &powers, &parts);
        self.store(&mut emitter, &at);
        let head = format!(
            "@workgroup_size({}) fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) ",
            self.lanes
        );
        let workgroups = [self.attention.rows().div_ceil(self.rows) as u32, self.attention.batches() as u32, 1];
        let entry = Entry { head, begin: String::new(), workgroups };
        Kernel::new(emitter, entry, self.epilogue.output, self.epilogue.label)
    }

    /// Declares lane, rows and sums; the coordinates of each row.
    fn begin(&self, emitter: &mut Emitter<'_>) -> Vec<Vec<Value>> {
        let Attention { sizes, .. } = self.attention;
        let rank = sizes.len();
        emitter.line("let lane = i32(local);");
        let batch: Vec<usize> = (0..rank - 2).collect();
        let number = Value::Text(emitter.variable("i32(group.y)"));
        let batch = counted_coordinates(&number, &batch, sizes, rank);
        let batch: Vec<Value> = batch.into_iter().map(|value| emitter.named(value)).collect();
        let last = self.attention.rows() - 1;
        let mut row = |row: usize| {
            emitter.line(&format!("var sum{row}: vec4<f32> = vec4<f32>();"));
            emitter.line(&format!("var most{row}: f32 = -3.0e38f;"));
            emitter.line(&format!("var total{row}: f32 = 0.0f;"));
            // Rows behind the last are computed like it, and not stored.
            let number = emitter.variable(&format!("min(i32(group.x) * {}i + {row}i, {last}i)", self.rows));
            let mut at = batch.clone();
            at[rank - 2] = Value::Text(number);
            at
        };
        (0..self.rows).map(&mut row).collect()
    }

    /// The queries of the rows, a number for each row and lane, and a vector for each.
    fn workgroup_memory(&self, emitter: &mut Emitter<'_>) -> [String; 3] {
        let sizes = [self.rows * self.depth_slices(), self.rows * self.lanes, self.rows * self.lanes];
        let types = ["vec4<f32>", "f32", "vec4<f32>"];
        let mut index = 0;
        ["queries", "powers", "parts"].map(|prefix| {
            let name = emitter.workgroup_variable(prefix, &format!("array<{}, {}>", types[index], sizes[index]));
            index += 1;
            name
        })
    }

    fn depth_slices(&self) -> usize {
        self.attention.extents[0].div_ceil(TEXEL)
    }

    fn stage_queries(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>], queries: &str) {
        let slices = self.depth_slices();
        for (row, at) in at.iter().enumerate() {
            emitter.open(&format!("for (var d: i32 = lane; d < {slices}i; d = d + {}i)", self.lanes));
            let slice = Value::Text("d".to_owned());
            let places: Vec<Place> = (0..TEXEL)
                .map(|lane| emitter.place([&at[..], &[Value::channel(&slice, lane), Value::Known(0)]].concat()))
                .collect();
            let values: Vec<String> = emitter.values(self.attention.query, &places).iter().map(Value::text).collect();
            emitter.line(&format!("{queries}[d + {}i] = vec4<f32>({});", row * slices, values.join(", ")));
            emitter.close("");
        }
        emitter.line("workgroupBarrier();");
    }

    /// The number of keys that any of the rows sees, WGSL: the last row sees most.
    fn keys(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>]) -> String {
        match (self.attention.keys, at.last()) {
            (Some(keys), Some(last)) => {
                let place = emitter.place(last.clone());
                let keys = emitter.text(keys, place);
                emitter.variable(&keys)
            }
            _ => format!("{}i", self.attention.extents[1]),
        }
    }

    /// The score `p0`, ... of each row and the key of the lane.
    fn scores(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>], queries: &str, keys: &str) {
        let slices = self.depth_slices();
        let exists = emitter.variable(&format!("first + lane < {keys}"));
        let key = Value::Text(emitter.variable(&format!("min(first + lane, {keys} - 1i)")));
        (0..self.rows).for_each(|row| emitter.line(&format!("var p{row}: f32 = 0.0f;")));
        let together = together(slices);
        emitter.open(&format!("for (var d: i32 = 0i; d < {slices}i; d = d + {together}i)"));
        let load = |emitter: &mut Emitter<'_>, offset: usize| {
            let slice = Value::Text(emitter.variable(&format!("d + {offset}i")));
            let lanes = (0..TEXEL).map(|lane| Value::channel(&slice, lane));
            let places: Vec<Place> =
                lanes.map(|lane| emitter.place([&at[0][..], &[lane, key.clone()]].concat())).collect();
            vector(emitter, self.attention.key, &places)
        };
        let factors: Vec<String> = (0..together).map(|offset| load(emitter, offset)).collect();
        for (offset, factors) in factors.iter().enumerate() {
            for row in 0..self.rows {
                let place = row * slices + offset;
                emitter.line(&format!("p{row} = p{row} + dot({queries}[d + {place}i], {factors});"));
            }
        }
        emitter.close("");
        for (row, at) in at.iter().enumerate() {
            let place = emitter.place([&at[..], &[Value::Known(0), key.clone()]].concat());
            emitter.define(self.attention.product, place, &format!("p{row}"));
            let score = emitter.text(self.attention.score, place);
            emitter.line(&format!("p{row} = select(-3.4e38f, {score}, {exists});"));
        }
    }

    /// Makes powers of the scores, relative to the greatest score so far.
    fn rescale(&self, emitter: &mut Emitter<'_>, powers: &str) {
        self.tree(emitter, powers, |row| format!("p{row}"), |one, other| format!("max({one}, {other})"));
        for row in 0..self.rows {
            emitter.line(&format!("let greatest{row} = max(most{row}, {powers}[{}i]);", row * self.lanes));
            emitter.line(&format!("let factor{row} = exp_f32(most{row} - greatest{row});"));
            emitter.line(&format!("most{row} = greatest{row};"));
            emitter.line(&format!("p{row} = exp_f32(p{row} - greatest{row});"));
            emitter.line(&format!("total{row} = total{row} * factor{row} + p{row};"));
            emitter.line(&format!("sum{row} = sum{row} * factor{row};"));
        }
        emitter.line("workgroupBarrier();");
        for row in 0..self.rows {
            emitter.line(&format!("{powers}[lane + {}i] = p{row};", row * self.lanes));
        }
        emitter.line("workgroupBarrier();");
    }

    /// Adds the values of the chunk.
    fn add_values(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>], powers: &str, keys: &str) {
        let across = self.across;
        let slice = Value::Text(emitter.variable(&self.slice()));
        // Keys behind the last have no power.
        let groups = self.lanes / across;
        let together = together(self.lanes / groups);
        let head = format!("for (var k: i32 = lane / {across}i; k < {}i; k = k + {}i)", self.lanes, together * groups);
        emitter.open(&head);
        let load = |emitter: &mut Emitter<'_>, offset: usize| {
            let key = emitter.variable(&format!("min(first + k + {}i, {keys} - 1i)", offset * groups));
            let place = |lane: usize| {
                let mut at = at[0].clone();
                let column = at.len() - 1;
                at[column] = Value::channel(&slice, lane);
                [&at[..], &[Value::Known(0), Value::Text(key.clone())]].concat()
            };
            let places: Vec<Place> = (0..TEXEL).map(|lane| emitter.place(place(lane))).collect();
            vector(emitter, self.attention.value, &places)
        };
        let factors: Vec<String> = (0..together).map(|offset| load(emitter, offset)).collect();
        for (offset, factors) in factors.iter().enumerate() {
            for row in 0..self.rows {
                let place = row * self.lanes + offset * groups;
                emitter.line(&format!("sum{row} = sum{row} + {powers}[k + {place}i] * {factors};"));
            }
        }
        emitter.close("");
        emitter.line("workgroupBarrier();");
    }

    /// The slice of the values of a lane.
    fn slice(&self) -> String {
        match self.attention.slices() == self.across {
            true => format!("lane % {}i", self.across),
            false => format!("min(lane % {}i, {}i)", self.across, self.attention.slices() - 1),
        }
    }

    /// Adds the totals of all lanes, and the sums of the lanes with the same slice.
    fn reduce(&self, emitter: &mut Emitter<'_>, powers: &str, parts: &str) {
        self.tree(emitter, powers, |row| format!("total{row}"), |one, other| format!("{one} + {other}"));
        for row in 0..self.rows {
            emitter.line(&format!("total{row} = {powers}[{}i];", row * self.lanes));
            emitter.line(&format!("{parts}[lane + {}i] = sum{row};", row * self.lanes));
        }
        emitter.halve(self.lanes, self.across, |half| {
            let add = |row: usize| {
                let place = format!("lane + {}i", row * self.lanes);
                format!("sum{row} = sum{row} + {parts}[{place} + {half}i]; {parts}[{place}] = sum{row};")
            };
            (0..self.rows).map(add).collect()
        });
    }

    /// Combines a number of each lane, for each row, in the place of lane 0.
    fn tree(
        &self,
        emitter: &mut Emitter<'_>,
        numbers: &str,
        own: impl Fn(usize) -> String,
        combine: impl Fn(&str, &str) -> String,
    ) {
        for row in 0..self.rows {
            emitter.line(&format!("{numbers}[lane + {}i] = {};", row * self.lanes, own(row)));
        }
        emitter.halve(self.lanes, 1, |half| {
            let place = |row: usize, lane: usize| format!("{numbers}[lane + {}i]", row * self.lanes + lane);
            let rows = (0..self.rows).map(|row| (place(row, 0), place(row, half)));
            rows.map(|(own, other)| format!("{own} = {};", combine(&own, &other))).collect()
        });
        emitter.line("workgroupBarrier();");
    }

    fn store(&self, emitter: &mut Emitter<'_>, at: &[Vec<Value>]) {
        let (rows, sizes) = (self.attention.rows(), &self.attention.sizes);
        emitter.open(&format!("if (lane < {}i)", self.attention.slices()));
        let target = Target { scope: self.scope, epilogue: self.epilogue, sizes, column: sizes.len() - 1 };
        for (row, at) in at.iter().enumerate() {
            let is_partial = !rows.is_multiple_of(self.rows);
            if is_partial {
                emitter.open(&format!("if (i32(group.x) * {}i + {row}i < {rows}i)", self.rows));
            }
            let is_whole = self.attention.parts == 1;
            let scale = if is_whole {
                format!("select(0.0f, 1.0f / total{row}, total{row} > 0.0f)")
            } else {
                "1.0f".to_owned()
            };
            let scale = emitter.variable(&scale);
            let sums: Vec<String> = (0..TEXEL).map(|lane| format!("(sum{row}[{lane}] * {scale})")).collect();
            target.store(emitter, at, &Value::Text("lane".to_owned()), &sums);
            if !is_whole {
                emitter.open("if (lane == 0i)");
                let rest = [format!("most{row}"), format!("total{row}"), "0.0f".to_owned(), "0.0f".to_owned()];
                target.store(emitter, at, &Value::Known(self.attention.slices()), &rest);
                emitter.close("");
            }
            if is_partial {
                emitter.close("");
            }
        }
        emitter.close("");
    }
}
