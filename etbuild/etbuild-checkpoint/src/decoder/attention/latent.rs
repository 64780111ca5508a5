//! Multi-head latent attention. The KV cache has the latent and the rotated elements of each token, as the keys of one head, whose beginnings
//! are the values. Each head's matrix from latents to keys is absorbed into the queries, and the one from latents to values into the output.

use etbuild_ir::{Argument, ValueId};

use super::{Place, Role, heads, keep};
use crate::constant::{Matrices, Part};
use crate::decoder::parts::Parts;
use crate::decoder::text::{Own, Text};
use crate::decoder::weights::Listed;
use crate::{Decoder, Latent};

/// The attention of a layer, of tokens `[1, count, width]`.
pub fn build(place: &Place<'_>, latent: Latent, parts: &mut Parts<'_, '_>, text: &Text, input: ValueId) -> ValueId {
    let attention = Attending { place, latent, count: text.count };
    let ([kept_queries, queries], [latents, keys]) = (attention.queries(parts, input), attention.keys(parts, input));
    let rows = [kept_queries, queries, latents, keys];
    let rows = text.each(parts, rows, |parts, own, [kept_queries, queries, latents, keys]| {
        attention.attend(parts, own, [kept_queries, queries], [latents, keys])
    });
    attention.output(parts, rows)
}

/// The attention of a layer.
struct Attending<'d> {
    place: &'d Place<'d>,
    latent: Latent,
    /// The tokens of all texts.
    count: usize,
}

impl Attending<'_> {
    const fn heads(&self) -> usize {
        self.place.attention.heads
    }

    const fn decoder(&self) -> &Decoder {
        self.place.decoder
    }

    fn within(&self, name: &str) -> String {
        format!("{}.{name}", self.place.module)
    }

    /// RMSNorm of a latent.
    fn norm(&self, parts: &mut Parts<'_, '_>, name: &str, size: usize, input: ValueId) -> ValueId {
        parts.gain(&self.within(name), size, self.latent.epsilon, input)
    }

    /// Queries of latents, `[1, count, heads, rank]`, and the elements to rotate, `[1, count, heads, rotated]`.
    fn queries(&self, parts: &mut Parts<'_, '_>, input: ValueId) -> [ValueId; 2] {
        let Latent { query_rank, rank, plain, rotated, .. } = self.latent;
        let (width, depth) = (self.decoder().width, plain + rotated);
        let all = self.heads() * depth;
        let projected = match query_rank {
            None => parts.linear(&self.within("q_proj"), input, [all, width], false),
            Some(rank) => {
                let made =
                    parts.linear(&self.within("q_a_proj"), input, [rank, width], self.place.attention.biases.inputs);
                let made = self.norm(parts, "q_a_layernorm", rank, made);
                parts.linear(&self.within("q_b_proj"), made, [all, rank], false)
            }
        };
        let shaped = parts.sketch.view(projected, &[1, self.count, self.heads(), depth]);
        let to_turn = parts.sketch.slice(shaped, 3, plain, depth);
        let kept = parts.sketch.slice(shaped, 3, 0, plain);
        let absorbed = self.by_head(parts, Projection::Keys, kept);
        [parts.sketch.view(absorbed, &[1, self.count, self.heads(), rank]), to_turn]
    }

    /// Latents, `[1, count, 1, rank]`, and the elements to rotate, `[1, count, 1, rotated]`.
    fn keys(&self, parts: &mut Parts<'_, '_>, input: ValueId) -> [ValueId; 2] {
        let Latent { rank, rotated, .. } = self.latent;
        let sizes = [rank + rotated, self.decoder().width];
        let has_bias = self.place.attention.biases.inputs;
        let made = parts.linear(&self.within("kv_a_proj_with_mqa"), input, sizes, has_bias);
        let to_turn = parts.sketch.slice(made, 2, rank, rank + rotated);
        let latents = parts.sketch.slice(made, 2, 0, rank);
        let latents = self.norm(parts, "kv_a_layernorm", rank, latents);
        [(latents, rank), (to_turn, rotated)].map(|(rows, size)| parts.sketch.view(rows, &[1, self.count, 1, size]))
    }

    /// The sums of latents that each head attends to, `[1, count, heads, rank]`, for the tokens of a text.
    fn attend(&self, parts: &mut Parts<'_, '_>, text: &Own, queries: [ValueId; 2], keys: [ValueId; 2]) -> ValueId {
        let window = self.place.layer.window;
        let [query, key] = [(Role::Query, queries), (Role::Key, keys)].map(|(role, [kept, to_turn])| {
            let turned = heads::rotate(self.place, parts, role, text, to_turn);
            parts.sketch.enter(self.place.module.as_str());
            parts.sketch.join(&[kept, turned], 3)
        });
        let keys = keep(self.place, parts, "keys", text, key);
        let rest = [
            Argument::Float(self.place.attention.scale),
            Argument::Int(window.map_or(0, |window| i64::try_from(window).unwrap_or(i64::MAX))),
            Argument::Float(0.0),
            Argument::None,
            Argument::None,
            Argument::Int(self.latent.rank as i64),
        ];
        let mut output = parts.sketch.like(query);
        let _ = output.set_size(3, self.latent.rank as i32);
        let read = [query, keys, keys, text.start, text.last].map(Argument::Value);
        parts.sketch.call("etbuild.attend_cache.default", read.into_iter().chain(rest).collect(), output)
    }

    /// The output of attention, of sums of latents.
    fn output(&self, parts: &mut Parts<'_, '_>, sums: ValueId) -> ValueId {
        let all = self.heads() * self.latent.value;
        let values = self.by_head(parts, Projection::Values, sums);
        let values = parts.sketch.view(values, &[1, self.count, all]);
        let (name, sizes) = (self.decoder().names.output, [self.decoder().width, all]);
        parts.linear(&self.within(name), values, sizes, self.place.attention.biases.output)
    }

    /// The product of each head with a matrix of its own, `[count, heads, rows]`: a mixture whose tokens choose all experts in order.
    fn by_head(&self, parts: &mut Parts<'_, '_>, projection: Projection, rows: ValueId) -> ValueId {
        let (heads, Latent { rank, plain, value, .. }) = (self.heads(), self.latent);
        parts.sketch.enter(self.within("kv_b_proj"));
        let [made, columns] = match projection {
            Projection::Keys => [rank, plain],
            Projection::Values => [value, rank],
        };
        let matrices =
            if self.latent.is_split { self.split(parts, projection) } else { self.of_one(parts, projection) };
        let numbers = parts.weights.in_order(self.count, heads);
        let numbers = parts.sketch.constant(&numbers);
        let rows = parts.sketch.view(rows, &[self.count, heads, columns]);
        parts.sketch.choose(rows, numbers, &matrices, [self.count, heads, made])
    }

    /// The matrices of heads, whose rows for keys and values are in turns in one matrix.
    fn of_one(&self, parts: &mut Parts<'_, '_>, projection: Projection) -> Matrices {
        let (heads, Latent { rank, plain, value, .. }) = (self.heads(), self.latent);
        let (tensor, all) = (self.within("kv_b_proj.weight"), heads * (plain + value));
        let of_head = |head: usize, first, count| Part { first: head * (plain + value) + first, count, all };
        match projection {
            Projection::Keys => {
                let blocks: Vec<Part> = (0..heads).map(|head| of_head(head, 0, plain)).collect();
                Matrices { all: parts.weights.transposed_blocks(&tensor, &blocks, rank), ..Matrices::default() }
            }
            Projection::Values => {
                let stored = |head| Listed::alone(tensor.clone(), of_head(head, plain, value), rank);
                parts.weights.list(heads, stored)
            }
        }
    }

    /// The matrices of heads, from a stack for keys or for values.
    fn split(&self, parts: &mut Parts<'_, '_>, projection: Projection) -> Matrices {
        let (heads, Latent { rank, plain, value, .. }) = (self.heads(), self.latent);
        let (name, rows, columns) = match projection {
            Projection::Keys => ("k_b_proj", rank, plain),
            Projection::Values => ("v_b_proj", value, rank),
        };
        let tensor = self.within(&format!("{name}.weight"));
        let stored = |head| Listed::in_stack(&tensor, [head, heads], Part::all(rows), columns);
        parts.weights.list(heads, stored)
    }
}

/// A projection of latents, a matrix for each head.
#[derive(Clone, Copy)]
enum Projection {
    /// From latents to keys, absorbed into queries: transposed.
    Keys,
    /// From latents to values.
    Values,
}
