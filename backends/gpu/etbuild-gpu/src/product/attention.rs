//! Attention without stored scores (Dao et al. 2022): an invocation has a row of queries, takes keys in tiles, and rescales its sums
//! whenever a tile has a greater score.

use crate::coordinate::Value;
use crate::emitter::{Emitter, Place, Scope};
use crate::expr::ExprId;
use crate::kernel::{Entry, Kernel, MOST_ITERATIONS};
use crate::tensor::TEXEL;

use super::{Epilogue, Target, sum};

/// The invocations that have neighbouring rows, and the keys of a tile.
const LANES: usize = 8;

/// The tiles of rows in a workgroup.
const TILES: usize = 4;

/// `softmax(score(query x key)) x value`: expressions of the coordinates of the result, `[batch..., row, column]`, then of depth and key.
#[derive(Clone, Debug)]
pub struct Attention {
    /// The shape of the result.
    pub sizes: Vec<usize>,
    /// The extents of depth and of keys.
    pub extents: [usize; 2],
    /// The number of keys that the row at the coordinates of the result sees at most, at least 1; none for all.
    pub keys: Option<ExprId>,
    /// The parts that the keys are dealt to, the first dimension of the result, whose last four columns then are the greatest score of a part
    /// and the sum of its powers, and whose other columns are sums that are not normalized. 1 for a whole attention.
    pub parts: usize,
    /// The queries, sliced along the depth.
    pub query: ExprId,
    /// The keys, sliced along the depth.
    pub key: ExprId,
    /// The values, sliced along the column.
    pub value: ExprId,
    /// The product of query and key.
    pub product: ExprId,
    /// The score, of the product; minus infinity where a key is hidden.
    pub score: ExprId,
}

impl Attention {
    /// The kernel that stores an expression of the attention, for subgroups of a size, or for none.
    pub fn kernel(&self, scope: Scope<'_>, subgroup: u32, epilogue: &Epilogue<'_>) -> Kernel {
        let plain = Tile { attention: self, scope, epilogue, exchanges: false }.kernel();
        if subgroup as usize != LANES {
            return plain;
        }
        let exchanging = Tile { attention: self, scope, epilogue, exchanges: true }.kernel();
        let otherwise = (plain.reads == exchanging.reads).then_some(plain.source);
        Kernel { subgroup, otherwise, ..exchanging }
    }

    fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The rows of a batch.
    pub fn rows(&self) -> usize {
        self.sizes[self.rank() - 2]
    }

    /// The number of batches.
    pub fn batches(&self) -> usize {
        self.sizes[..self.rank() - 2].iter().product()
    }

    /// The slices of the columns of the values.
    pub fn slices(&self) -> usize {
        self.sizes[self.rank() - 1].div_ceil(TEXEL) - usize::from(self.parts > 1)
    }
}

/// The kernel under construction.
struct Tile<'p> {
    attention: &'p Attention,
    scope: Scope<'p>,
    epilogue: &'p Epilogue<'p>,
    /// Whether the lanes are a subgroup.
    exchanges: bool,
}

impl Tile<'_> {
    fn kernel(&self) -> Kernel {
        let mut emitter = Emitter::new(self.scope);
        let rows = self.attention.rows();
        emitter.line("let lane = i32(local.x);");
        emitter.line(&format!("let number = (i32(group.x) * {TILES}i + i32(local.y)) * {LANES}i + lane;"));
        // Rows behind the last are computed like it, and not stored.
        emitter.line(&format!("let row = min(number, {}i);", rows - 1));
        let at = self.row(&mut emitter);
        self.begin(&mut emitter);
        emitter.open(&format!(
            "for (var first: i32 = 0i; first < {}i; first = first + {LANES}i)",
            self.attention.extents[1]
        ));
        self.scores(&mut emitter, &at);
        self.rescale(&mut emitter);
        self.add_values(&mut emitter, &at);
        emitter.close("");
        emitter.line("let inverse = select(0.0f, 1.0f / total, total > 0.0f);");
        emitter.open(&format!("if (number < {rows}i)"));
        let target =
            Target { scope: self.scope, epilogue: self.epilogue, sizes: &self.attention.sizes, column: at.len() - 1 };
        for slice in 0..self.attention.slices() {
            let sums: Vec<String> = (0..TEXEL).map(|lane| format!("({} * inverse)", sum(slice, lane))).collect();
            target.store(&mut emitter, &at, &Value::Known(slice), &sums);
        }
        emitter.close("");
        let head = format!(
            "@workgroup_size({LANES}, {TILES}) fn main(@builtin(local_invocation_id) local: vec3<u32>, \
             @builtin(workgroup_id) group: vec3<u32>) "
        );
        let workgroups = [rows.div_ceil(LANES * TILES) as u32, self.attention.batches() as u32, 1];
        let entry = Entry { head, begin: String::new(), workgroups };
        Kernel::new(emitter, entry, self.epilogue.output, self.epilogue.label)
    }

    /// The coordinates of the row; the column is not used.
    fn row(&self, emitter: &mut Emitter<'_>) -> Vec<Value> {
        let rank = self.attention.rank();
        let batch: Vec<usize> = (0..rank - 2).collect();
        let number = Value::Text(emitter.variable("i32(group.y)"));
        let mut at = crate::store::counted_coordinates(&number, &batch, &self.attention.sizes, rank);
        at[rank - 2] = Value::Text("row".to_owned());
        at.into_iter().map(|value| emitter.named(value)).collect()
    }

    /// Declares the sums of the values, the greatest score, and the sum of the powers.
    fn begin(&self, emitter: &mut Emitter<'_>) {
        super::declare(emitter, self.attention.slices(), TEXEL);
        emitter.line("var most: f32 = -3.0e38f;");
        emitter.line("var total: f32 = 0.0f;");
    }

    /// The scores `p0` to `p7` of a tile of keys.
    fn scores(&self, emitter: &mut Emitter<'_>, at: &[Value]) {
        let [depth, keys] = self.attention.extents;
        (0..LANES).for_each(|key| emitter.line(&format!("var p{key}: f32 = 0.0f;")));
        // Slices of the depth together, so that the loops of a kernel stay below the iterations that drivers allow.
        let slices = depth.div_ceil(TEXEL);
        let together = (slices * keys.div_ceil(LANES)).div_ceil(MOST_ITERATIONS).min(slices);
        emitter.open(&format!("for (var d: i32 = 0i; d < {slices}i; d = d + {together}i)"));
        for slice in 0..together {
            let is_partial = slice > 0 && !slices.is_multiple_of(together);
            if is_partial {
                emitter.open(&format!("if (d + {slice}i < {slices}i)"));
            }
            self.add_slice(emitter, at, &Value::Text(format!("(d + {slice}i)")));
            if is_partial {
                emitter.close("");
            }
        }
        emitter.close("");
        self.mask(emitter, at);
    }

    /// Adds the products of a slice of the depth to the scores.
    fn add_slice(&self, emitter: &mut Emitter<'_>, at: &[Value], slice: &Value) {
        let lanes: Vec<Value> = (0..TEXEL).map(|lane| Value::channel(slice, lane)).collect();
        let places = |emitter: &mut Emitter<'_>, key: &Value| -> Vec<Place> {
            lanes.iter().map(|lane| emitter.place([at, &[lane.clone(), key.clone()]].concat())).collect()
        };
        let own = places(emitter, &Value::Known(0));
        let query = emitter.values(self.attention.query, &own);
        let factors = self.by_key(emitter, |emitter, key| {
            let places = places(emitter, key);
            emitter.values(self.attention.key, &places)
        });
        for (key, factors) in factors.iter().enumerate() {
            for (value, factor) in query.iter().zip(factors) {
                emitter.line(&format!("p{key} = p{key} + {} * {factor};", value.text()));
            }
        }
    }

    /// Scales and masks the scores; keys behind the last are hidden.
    fn mask(&self, emitter: &mut Emitter<'_>, at: &[Value]) {
        let keys = self.attention.extents[1];
        for key in 0..LANES {
            let number = Value::Text(emitter.variable(&format!("first + {key}i")));
            let place = emitter.place([at, &[Value::Known(0), number.clone()]].concat());
            emitter.define(self.attention.product, place, &format!("p{key}"));
            let is_partial = !keys.is_multiple_of(LANES);
            if is_partial {
                emitter.open(&format!("if ({} < {keys}i)", number.text()));
            }
            let score = emitter.text(self.attention.score, place);
            emitter.line(&format!("p{key} = {score};"));
            if is_partial {
                emitter.close(&format!(" else {{ p{key} = -3.4e38f; }}"));
            }
        }
    }

    /// Makes powers of the scores, relative to the greatest score so far.
    fn rescale(&self, emitter: &mut Emitter<'_>) {
        let all = (0..LANES).fold("most".to_owned(), |all, key| format!("max({all}, p{key})"));
        emitter.line(&format!("let greatest = {all};"));
        emitter.line("let factor = exp_f32(most - greatest);");
        emitter.line("most = greatest;");
        for key in 0..LANES {
            emitter.line(&format!("p{key} = exp_f32(p{key} - greatest);"));
        }
        let sum_of: Vec<String> = (0..LANES).map(|key| format!("p{key}")).collect();
        emitter.line(&format!("total = total * factor + ({});", sum_of.join(" + ")));
        for slice in 0..self.attention.slices() {
            for lane in 0..TEXEL {
                let sum = sum(slice, lane);
                emitter.line(&format!("{sum} = {sum} * factor;"));
            }
        }
    }

    /// Adds the values of the tile.
    fn add_values(&self, emitter: &mut Emitter<'_>, at: &[Value]) {
        for slice in 0..self.attention.slices() {
            let factors = self.by_key(emitter, |emitter, key| {
                let places: Vec<Place> = (0..TEXEL)
                    .map(|lane| {
                        let mut at = at.to_vec();
                        let column = at.len() - 1;
                        at[column] = Value::channel(&Value::Known(slice), lane);
                        emitter.place([&at[..], &[Value::Known(0), key.clone()]].concat())
                    })
                    .collect();
                emitter.values(self.attention.value, &places)
            });
            for (key, factors) in factors.iter().enumerate() {
                for (lane, factor) in factors.iter().enumerate() {
                    let sum = sum(slice, lane);
                    emitter.line(&format!("{sum} = {sum} + p{key} * {factor};"));
                }
            }
        }
    }

    /// Four values of each key of the tile, which `load` loads for a key.
    fn by_key(
        &self,
        emitter: &mut Emitter<'_>,
        load: impl Fn(&mut Emitter<'_>, &Value) -> Vec<Value>,
    ) -> Vec<Vec<String>> {
        let keys = self.attention.extents[1];
        let key = |emitter: &mut Emitter<'_>, offset: &str| match keys.is_multiple_of(LANES) {
            true => Value::Text(emitter.variable(&format!("first + {offset}"))),
            false => Value::Text(emitter.variable(&format!("min(first + {offset}, {}i)", keys - 1))),
        };
        if self.exchanges {
            let own = key(emitter, "lane");
            let values = load(emitter, &own);
            let from = |emitter: &mut Emitter<'_>, lane: usize| {
                let exchanged = |value: &Value| format!("subgroupBroadcast({}, {lane}u)", value.text());
                values.iter().map(|value| emitter.variable(&exchanged(value))).collect()
            };
            return (0..LANES).map(|lane| from(emitter, lane)).collect();
        }
        let of_key = |emitter: &mut Emitter<'_>, offset: usize| {
            let key = key(emitter, &format!("{offset}i"));
            load(emitter, &key).iter().map(Value::text).collect()
        };
        (0..LANES).map(|offset| of_key(emitter, offset)).collect()
    }
}
