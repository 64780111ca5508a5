//! Compares attention with the textbook formula in double precision.

use std::vec;
use std::vec::Vec;

use et_core::{Error, Half};
use et_simd::Level;

use super::cached::attend_cache_part;
use super::{Attention, Causal, Distances, Mask, Numbers, Sizes, Slots, Strides, Tokens, run, run_part};
use crate::test::{assert_close, numbers};

/// Element `at` of the stored row that begins at `row`, dequantized.
fn number(numbers: Numbers, row: usize, at: usize, width: usize) -> f32 {
    match numbers {
        Numbers::Floats(numbers) => numbers[row + at],
        Numbers::Halves(numbers) => numbers[row + at].to_f32(),
        Numbers::Bytes(bytes) => f32::from(bytes[row + at]) * scale(&bytes[row + width..]),
    }
}

fn scale(bytes: &[i8]) -> f32 {
    f32::from_le_bytes([0, 1, 2, 3].map(|index| bytes[index].cast_unsigned()))
}

/// Quantizes rows of `width` elements to int8 with scales.
fn in_bytes(numbers: &[f32], width: usize) -> Vec<i8> {
    let mut bytes = Vec::new();
    for row in numbers.chunks(width) {
        let scale = row.iter().fold(0.0, |most: f32, number| most.max(number.abs())) / 127.0;
        bytes.extend(row.iter().map(|number| (number / scale).round_ties_even() as i8));
        bytes.extend(scale.to_le_bytes().map(u8::cast_signed));
    }
    bytes
}

/// Reference attention: every score of a query at once.
fn plain(attention: &Attention, length: usize) -> Vec<f64> {
    let Attention { sizes, value, output: strides, .. } = attention;
    let mut output = vec![0.25; length];
    for (batch, head) in (0..sizes.batches).flat_map(|batch| (0..sizes.heads).map(move |head| (batch, head))) {
        for query in 0..sizes.queries {
            let weights = weights(attention, batch, head, query);
            for column in 0..sizes.value_width {
                let value = |key| {
                    let offset = value.strides.offset(batch, sizes.key_head(head), slot(attention, key));
                    f64::from(number(value.numbers, offset, column, attention.value_row))
                };
                let sum = weights.iter().enumerate().map(|(key, weight)| weight * value(key)).sum();
                output[strides.offset(batch, head, query) + column] = sum;
            }
        }
    }
    output
}

fn slot(attention: &Attention, key: usize) -> usize {
    (attention.slots.first + key) % attention.slots.count
}

fn weights(attention: &Attention, batch: usize, head: usize, query: usize) -> Vec<f64> {
    let Sizes { keys, width, .. } = attention.sizes;
    let score = |key: usize| {
        let from = attention.query.strides.offset(batch, head, query);
        let to = attention.key.strides.offset(batch, attention.sizes.key_head(head), slot(attention, key));
        let kept = |at| number(attention.key.numbers, to, at, width);
        let pair = |at| [attention.query.numbers[from + at], kept(at)].map(f64::from);
        let product: f64 = (0..width).map(pair).map(|[query, key]| query * key).sum();
        let masks = attention.masks.iter();
        let mask: f64 = masks.map(|mask| f64::from(mask.numbers[mask.strides.offset(batch, head, query) + key])).sum();
        let hidden = attention.causal.is_some_and(|Causal { first, last, window, is_mutual }| {
            let own = query.min(last) + first;
            (key > own && !is_mutual) || own.saturating_sub(key) >= window
        });
        let (score, cap) = (product * f64::from(attention.scale), f64::from(attention.soft_cap));
        let capped = if cap > 0.0 { (score / cap).tanh() * cap } else { score };
        let by_distance = attention.distances.zip(attention.causal).map_or(0.0, |(distances, causal)| {
            let distance = (query.min(causal.last) + causal.first).saturating_sub(key);
            f64::from(distances.numbers[(head + 1) * distances.count - 1 - distance])
        });
        if hidden { f64::NEG_INFINITY } else { capped + mask + by_distance }
    };
    let scores: Vec<f64> = (0..keys).map(score).collect();
    let sink = attention.sinks.map_or(f64::NEG_INFINITY, |sinks| f64::from(sinks[head]));
    let greatest = scores.iter().copied().fold(sink, f64::max);
    if greatest == f64::NEG_INFINITY {
        return vec![0.0; keys];
    }
    let sum: f64 = scores.iter().chain([&sink]).map(|score| (score - greatest).exp()).sum();
    scores.iter().map(|score| (score - greatest).exp() / sum).collect()
}

struct Shape {
    sizes: Sizes,
    soft_cap: f32,
    causal: Option<Causal>,
    /// The ring buffer; keys are in slot order unless a test overrides.
    slots: Option<Slots>,
    /// Whether values are the beginnings of keys.
    is_latent: bool,
}

/// Two batches of two heads, each with a KV head.
const SIZES: Sizes = Sizes { batches: 2, heads: 2, key_heads: 2, queries: 7, keys: 9, width: 8, value_width: 8 };

/// Attention without masking.
const BASE: Shape = Shape { sizes: SIZES, soft_cap: 0.0, causal: None, slots: None, is_latent: false };

impl Shape {
    const fn of(sizes: Sizes) -> Self {
        Self { sizes, ..BASE }
    }

    fn slots(&self) -> Slots {
        self.slots.unwrap_or(Slots::of(self.sizes.keys))
    }
}

/// The number of output elements.
fn length(sizes: &Sizes) -> usize {
    sizes.batches * sizes.heads * sizes.queries * sizes.value_width
}

/// Token-major layout with interleaved heads, as projections write.
fn strides(heads: usize, tokens: usize, width: usize) -> Strides {
    Strides { batch: tokens * heads * width, head: width, token: heads * width }
}

/// Calls `run` with attention over keys and values of each storage type.
fn each_type(shape: &Shape, masks: &[Mask], mut run: impl FnMut(Attention)) {
    let &Shape { sizes, soft_cap, causal, .. } = shape;
    let Sizes { batches, heads, key_heads, queries, width, value_width, .. } = sizes;
    let (slots, scale) = (shape.slots(), 0.3);
    let tripled = |count, seed| numbers(count, seed).iter().map(|number| number * 3.0).collect::<Vec<f32>>();
    let query = tripled(batches * heads * queries * width, 1);
    let key = tripled(batches * key_heads * slots.count * width, 2);
    let value = numbers(batches * key_heads * slots.count * value_width, 3);
    let halves = |numbers: &[f32]| numbers.iter().map(|number| Half::from_f32(*number)).collect::<Vec<_>>();
    let (half_keys, half_values) = (halves(&key), halves(&value));
    let (key_bytes, value_bytes) = (in_bytes(&key, width), in_bytes(&value, value_width));
    for [key, value] in [
        [Numbers::Floats(&key), Numbers::Floats(&value)],
        [Numbers::Halves(&half_keys), Numbers::Halves(&half_values)],
        [Numbers::Bytes(&key_bytes), Numbers::Bytes(&value_bytes)],
    ] {
        let query = Tokens { numbers: &query[..], strides: strides(heads, queries, width) };
        let key = Tokens { numbers: key, strides: strides(key_heads, slots.count, key.row(width)) };
        let value = Tokens { numbers: value, strides: strides(key_heads, slots.count, value.row(value_width)) };
        let output = strides(heads, queries, value_width);
        let (value, value_row) = if shape.is_latent { (key, width) } else { (value, value_width) };
        let distances = None;
        run(Attention {
            sizes,
            scale,
            soft_cap,
            causal,
            slots,
            query,
            key,
            value,
            value_row,
            masks,
            distances,
            sinks: None,
            output,
        });
    }
}

fn check(shape: &Shape, with_masks: bool) {
    let Sizes { batches, heads, queries, keys, .. } = shape.sizes;
    let bias = numbers(heads * queries * keys, 4);
    let hidden = numbers(batches * queries * keys, 5);
    let hidden: Vec<f32> = hidden.iter().map(|number| if *number > 0.5 { f32::NEG_INFINITY } else { 0.0 }).collect();
    let masks = [
        Mask { numbers: &bias, strides: Strides { batch: 0, head: queries * keys, token: keys } },
        Mask { numbers: &hidden, strides: Strides { batch: queries * keys, head: 0, token: keys } },
    ];
    let length = length(&shape.sizes);
    each_type(shape, if with_masks { &masks } else { &[] }, |attention| {
        let expected = plain(&attention, length);
        for level in Level::available() {
            let mut output = vec![0.25; length];
            run(level, &attention, &mut output, &mut vec![f32::NAN; shape.sizes.scratch()]).unwrap();
            let what = std::format!("{:?} with {}", shape.sizes, level.name());
            assert_close(&what, &output, &expected, 1e-5);
            assert_eq!(in_parts(level, &attention, length), output, "{what}");
        }
    });
}

/// The same output, item by item.
#[allow(unsafe_code)] // Parts are given an output that others write to.
fn in_parts(level: Level, attention: &Attention, length: usize) -> Vec<f32> {
    let mut output = vec![0.25; length];
    for item in 0..attention.sizes.items() {
        let mut memory = vec![f32::NAN; attention.sizes.scratch()];
        // SAFETY: the test owns the output.
        unsafe { run_part(level, attention, &raw mut output[..], item..item + 1, &mut memory) }.unwrap();
    }
    output
}

/// The output of attention over a KV cache, computed in parts.
#[allow(unsafe_code)] // Parts are given an output that others write to.
fn over_cache(level: Level, attention: &Attention, parts: usize) -> Vec<f32> {
    let (items, count) = (attention.sizes.cache_items(), length(&attention.sizes));
    let (mut output, mut memory) = (vec![f32::NAN; count], vec![f32::NAN; attention.sizes.cache_scratch()]);
    for part in 0..parts {
        let items = items * part / parts..items * (part + 1) / parts;
        // SAFETY: the test owns the output.
        unsafe { attend_cache_part(level, attention, &raw mut output[..], items, &mut memory) }.unwrap();
    }
    output
}

/// Queries that continue a text in a KV cache of `slots` slots.
fn cached(
    [heads, key_heads, width]: [usize; 3],
    [slots, first, queries, last]: [usize; 4],
    window: usize,
    soft_cap: f32,
) -> Shape {
    let sizes = Sizes { batches: 1, heads, key_heads, queries, keys: slots, width, value_width: width };
    Shape {
        sizes,
        soft_cap,
        causal: Some(Causal { first, last, window, is_mutual: false }),
        slots: None,
        is_latent: false,
    }
}

/// The same with `depth` elements of a key that are the value too.
fn latent(shape: Shape, depth: usize) -> Shape {
    Shape { sizes: Sizes { value_width: depth, ..shape.sizes }, is_latent: true, ..shape }
}

/// The same with queries that see each other.
fn mutual(shape: Shape) -> Shape {
    Shape { causal: shape.causal.map(|causal| Causal { is_mutual: true, ..causal }), ..shape }
}

#[test]
fn queries_attend_to_what_the_cache_has() {
    for shape in [
        cached([2, 1, 8], [7, 0, 5, 4], usize::MAX, 0.0),
        cached([4, 2, 64], [80, 70, 3, 1], usize::MAX, 0.0),
        cached([3, 3, 33], [20, 55, 4, 3], 16, 0.0),
        cached([6, 2, 128], [600, 590, 1, 0], usize::MAX, 1.5),
        cached([2, 2, 80], [64, 1000, 9, 8], 50, 5.0),
        mutual(cached([2, 1, 8], [7, 0, 5, 4], usize::MAX, 0.0)),
        mutual(cached([3, 3, 33], [20, 55, 4, 3], 16, 0.0)),
        mutual(cached([2, 2, 80], [64, 1000, 9, 8], 50, 5.0)),
        latent(cached([16, 1, 72], [90, 70, 1, 0], usize::MAX, 0.0), 64),
        latent(cached([13, 1, 37], [20, 3, 5, 4], usize::MAX, 0.0), 29),
        latent(cached([20, 1, 40], [300, 250, 30, 28], usize::MAX, 0.0), 33),
    ] {
        each_type(&shape, &[], |attention| {
            let attention = attention.in_ring().unwrap();
            let expected = plain(&attention, length(&shape.sizes));
            for level in Level::available() {
                assert_close(level.name(), &over_cache(level, &attention, 1), &expected, 1e-5);
            }
        });
    }
}

#[test]
fn scores_have_numbers_by_distance() {
    for shape in [
        cached([2, 1, 8], [7, 0, 5, 4], usize::MAX, 0.0),
        cached([4, 2, 64], [80, 70, 1, 0], usize::MAX, 0.0),
        cached([3, 3, 33], [20, 55, 4, 3], 16, 1.5),
        cached([4, 4, 24], [600, 570, 20, 17], usize::MAX, 0.0),
        cached([2, 2, 80], [64, 1000, 9, 8], 50, 5.0),
    ] {
        let count = shape.sizes.keys + 3;
        let added = numbers(shape.sizes.heads * count, 6);
        each_type(&shape, &[], |attention| {
            let distances = Some(Distances { numbers: &added, count });
            let attention = Attention { distances, ..attention }.in_ring().unwrap();
            let expected = plain(&attention, length(&shape.sizes));
            for level in Level::available() {
                assert_close(level.name(), &over_cache(level, &attention, 1), &expected, 1e-5);
            }
        });
    }
}

#[test]
fn a_sink_takes_a_share_of_the_weights() {
    for shape in [
        cached([2, 1, 8], [7, 0, 5, 4], usize::MAX, 0.0),
        cached([8, 2, 64], [700, 690, 1, 0], usize::MAX, 0.0),
        cached([3, 3, 33], [20, 55, 4, 3], 16, 1.5),
        cached([4, 4, 24], [600, 570, 20, 17], 128, 0.0),
    ] {
        // Sinks above and below all other scores.
        let sinks: Vec<f32> = (0..shape.sizes.heads).map(|head| [30.0, -30.0, 1.0][head % 3]).collect();
        each_type(&shape, &[], |attention| {
            let attention = Attention { sinks: Some(&sinks), ..attention }.in_ring().unwrap();
            let expected = plain(&attention, length(&shape.sizes));
            for level in Level::available() {
                assert_close(level.name(), &over_cache(level, &attention, 1), &expected, 1e-5);
            }
            let few = Attention { sinks: Some(&sinks[1..]), ..attention };
            let (mut output, mut memory) = (vec![0.0; 99999], vec![0.0; 99999]);
            assert!(run(Level::Portable, &few, &mut output, &mut memory).is_err());
        });
    }
}

#[test]
fn numbers_for_each_distance_are_needed() {
    let shape = cached([2, 1, 8], [7, 0, 5, 4], usize::MAX, 0.0);
    each_type(&shape, &[], |attention| {
        let mutual = attention.causal.map(|causal| Causal { is_mutual: true, ..causal });
        for (causal, length, count) in
            [(attention.causal, 8, 4), (attention.causal, 9, 5), (mutual, 10, 5), (None, 10, 5)]
        {
            let added = vec![0.0; length];
            let distances = Some(Distances { numbers: &added, count });
            let attention = Attention { distances, sizes: Sizes { keys: 5, ..attention.sizes }, causal, ..attention };
            let (mut output, mut memory) = (vec![0.0; 80], vec![0.0; 9999]);
            for level in Level::available() {
                assert_eq!(run(level, &attention, &mut output, &mut memory), Err(Error::InvalidArgument));
            }
        }
    });
}

#[test]
fn a_query_gets_the_same_bits_alone_and_beside_others() {
    for shape in [
        cached([4, 2, 24], [90, 71, 8, 7], usize::MAX, 0.0),
        cached([8, 8, 24], [90, 1, 7, 6], usize::MAX, 0.0),
        cached([4, 1, 24], [40, 133, 8, 7], 33, 0.0),
        cached([16, 8, 24], [40, 77, 5, 4], 30, 0.0),
    ] {
        each_type(&shape, &[], |attention| {
            let bits = |level, attention: Attention, parts| {
                over_cache(level, &attention.in_ring().unwrap(), parts)
                    .into_iter()
                    .map(f32::to_bits)
                    .collect::<Vec<_>>()
            };
            let alone = |query: usize| {
                let causal = attention.causal.map(|causal| Causal { first: causal.first + query, last: 0, ..causal });
                let numbers = &attention.query.numbers[query * attention.query.strides.token..];
                let tokens = Tokens { numbers, ..attention.query };
                Attention { sizes: Sizes { queries: 1, ..attention.sizes }, causal, query: tokens, ..attention }
            };
            for level in Level::available() {
                let expected: Vec<u32> =
                    (0..shape.sizes.queries).flat_map(|query| bits(level, alone(query), 1)).collect();
                for parts in [1, 3] {
                    assert!(bits(level, attention, parts) == expected, "{}: {:?}", level.name(), shape.sizes);
                }
            }
        });
    }
}

#[test]
fn a_text_longer_than_the_cache_is_refused() {
    each_type(&cached([1, 1, 1], [2, 2, 1, 0], usize::MAX, 0.0), &[], |attention| {
        assert_eq!(attention.in_ring().map(|_| ()), Err(Error::InvalidArgument));
    });
}

#[test]
fn it_is_the_formula() {
    check(&BASE, true);
    for count in [1, 2, 5, 6, 7, 12, 13, 49] {
        check(&Shape::of(Sizes { queries: count, keys: count, width: 32, value_width: 32, ..SIZES }), true);
        check(&Shape::of(Sizes { queries: count, keys: 17, width: 5, value_width: 3, ..SIZES }), false);
        check(&Shape::of(Sizes { queries: 3, keys: count, width: 33, value_width: 80, ..SIZES }), true);
    }
    check(&Shape::of(Sizes { batches: 1, queries: 197, keys: 197, width: 64, value_width: 64, ..SIZES }), false);
}

#[test]
fn many_keys_are_several_blocks() {
    for keys in [255, 256, 257, 512, 700] {
        let sizes = Sizes { batches: 1, heads: 1, key_heads: 1, queries: 13, keys, width: 16, value_width: 20 };
        check(&Shape::of(sizes), keys % 2 == 1);
    }
}

#[test]
fn heads_share_keys() {
    check(&Shape::of(Sizes { heads: 6, queries: 5, keys: 11, width: 16, value_width: 16, ..SIZES }), false);
}

#[test]
fn causal_queries_do_not_look_ahead() {
    let causal = |queries, keys, first| {
        let sizes = Sizes { batches: 1, queries, keys, ..SIZES };
        Shape { sizes, causal: Some(Causal::from(first)), ..BASE }
    };
    check(&causal(20, 20, 0), false);
    check(&causal(4, 300, 296), true);
    check(&causal(300, 300, 0), false);
}

#[test]
fn windows_move_with_their_queries() {
    for (queries, first, last, window) in [(20, 0, 19, 1), (40, 280, 39, 33), (300, 0, 250, 40), (30, 600, 11, 16)] {
        for is_mutual in [false, true] {
            let (keys, causal) = (first + last + 1, Some(Causal { first, last, window, is_mutual }));
            let sizes = Sizes { batches: 1, queries, keys, width: 16, value_width: 16, ..SIZES };
            check(&Shape { sizes, causal, ..BASE }, false);
            check(&Shape { sizes, causal, soft_cap: 1.5, ..BASE }, true);
        }
    }
}

#[test]
fn keys_are_written_around_the_end() {
    let sizes = Sizes { batches: 1, queries: 12, keys: 300, width: 16, value_width: 16, ..SIZES };
    for (first, count) in [(0, 300), (299, 300), (5, 301), (130, 310), (40, 400)] {
        let slots = Some(Slots { first, count });
        check(&Shape { sizes, slots, ..BASE }, false);
        let causal = Some(Causal { first: 288, last: 11, window: 200, is_mutual: false });
        check(&Shape { sizes, slots, causal, ..BASE }, true);
    }
}

#[test]
fn a_query_that_sees_nothing_results_in_zeros() {
    let hidden = [f32::NEG_INFINITY; 9];
    let masks = [Mask { numbers: &hidden, strides: Strides::default() }];
    let count = length(&SIZES);
    each_type(&BASE, &masks, |attention| {
        for level in Level::available() {
            let (mut output, mut memory) = (vec![1.0; count], vec![0.0; SIZES.scratch()]);
            run(level, &attention, &mut output, &mut memory).unwrap();
            assert_eq!(output, vec![0.0; count], "{}", level.name());
            assert_eq!(run(level, &attention, &mut output[1..], &mut memory), Err(Error::InvalidArgument));
            assert_eq!(run(level, &attention, &mut output, &mut memory[1..]), Err(Error::InvalidArgument));
            let too_many = Attention { sizes: Sizes { keys: 10, ..SIZES }, slots: Slots::of(10), ..attention };
            assert_eq!(run(level, &too_many, &mut output, &mut [0.0; 9999]), Err(Error::InvalidArgument));
            let blind = Attention { causal: Some(Causal { window: 0, ..Causal::from(0) }), ..attention };
            assert_eq!(run(level, &blind, &mut output, &mut memory), Err(Error::InvalidArgument));
        }
    });
}
