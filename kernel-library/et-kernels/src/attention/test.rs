//! Compares attention with the textbook formula in double precision.

use std::vec;
use std::vec::Vec;

use et_core::{Error, Half};
use et_simd::Level;

use super::{Attention, Causal, Mask, Numbers, Part, Slots, Strides, Tokens, run, run_part, scratch};
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

/// Quantizes rows of `width` elements to int8 with scales; also returns the dequantized elements.
pub fn in_bytes(numbers: &[f32], width: usize) -> (Vec<i8>, Vec<f32>) {
    let (mut bytes, mut rounded) = (Vec::new(), Vec::new());
    for row in numbers.chunks(width) {
        let scale = row.iter().fold(0.0, |most: f32, number| most.max(number.abs())) / 127.0;
        let whole: Vec<i8> = row.iter().map(|number| (number / scale).round_ties_even() as i8).collect();
        rounded.extend(whole.iter().map(|byte| f32::from(*byte) * scale));
        bytes.extend(whole);
        bytes.extend(scale.to_le_bytes().map(u8::cast_signed));
    }
    (bytes, rounded)
}

/// Reference attention: every score of a query at once.
fn plain(attention: &Attention, length: usize) -> Vec<f64> {
    let mut output = vec![0.25; length];
    for batch in 0..attention.batches {
        for head in 0..attention.heads {
            for query in 0..attention.queries {
                let weights = weights(attention, batch, head, query);
                let key_head = head / (attention.heads / attention.key_heads);
                for column in 0..attention.value_width {
                    let value = |key| {
                        let offset = attention.value.strides.offset(batch, key_head, slot(attention, key));
                        f64::from(number(attention.value.numbers, offset, column, attention.value_width))
                    };
                    let sum = weights.iter().enumerate().map(|(key, weight)| weight * value(key)).sum();
                    output[attention.output.offset(batch, head, query) + column] = sum;
                }
            }
        }
    }
    output
}

fn slot(attention: &Attention, key: usize) -> usize {
    (attention.slots.first + key) % attention.slots.count
}

fn weights(attention: &Attention, batch: usize, head: usize, query: usize) -> Vec<f64> {
    let key_head = head / (attention.heads / attention.key_heads);
    let score = |key: usize| {
        let from = attention.query.strides.offset(batch, head, query);
        let to = attention.key.strides.offset(batch, key_head, slot(attention, key));
        let kept = |at| number(attention.key.numbers, to, at, attention.width);
        let pair = |at| [attention.query.numbers[from + at], kept(at)].map(f64::from);
        let product: f64 = (0..attention.width).map(pair).map(|[query, key]| query * key).sum();
        let masks = attention.masks.iter();
        let mask: f64 = masks.map(|mask| f64::from(mask.numbers[mask.strides.offset(batch, head, query) + key])).sum();
        let hidden = attention.causal.is_some_and(|Causal { first, last, window }| {
            let own = query.min(last) + first;
            key > own || own - key >= window
        });
        let (score, cap) = (product * f64::from(attention.scale), f64::from(attention.soft_cap));
        let bent = if cap > 0.0 { (score / cap).tanh() * cap } else { score };
        if hidden { f64::NEG_INFINITY } else { bent + mask }
    };
    let scores: Vec<f64> = (0..attention.keys).map(score).collect();
    let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return vec![0.0; attention.keys];
    }
    let sum: f64 = scores.iter().map(|score| (score - greatest).exp()).sum();
    scores.iter().map(|score| (score - greatest).exp() / sum).collect()
}

struct Shape {
    batches: usize,
    heads: usize,
    key_heads: usize,
    queries: usize,
    keys: usize,
    width: usize,
    value_width: usize,
    soft_cap: f32,
    causal: Option<Causal>,
    slots: Slots,
}

/// Two batches of two heads, each with a KV head, without masking.
const BASE: Shape = Shape {
    batches: 2,
    heads: 2,
    key_heads: 2,
    queries: 7,
    keys: 9,
    width: 8,
    value_width: 8,
    soft_cap: 0.0,
    causal: None,
    slots: Slots::of(0),
};

impl Shape {
    /// The ring buffer; keys are in slot order unless a test overrides.
    fn slots(&self) -> Slots {
        if self.slots.count == 0 { Slots::of(self.keys) } else { self.slots }
    }
}

/// Token-major layout with interleaved heads, as projections write.
fn strides(heads: usize, tokens: usize, width: usize) -> Strides {
    Strides { batch: tokens * heads * width, head: width, token: heads * width }
}

fn check(shape: &Shape, with_masks: bool) {
    let &Shape { batches, key_heads, width, value_width, .. } = shape;
    let slots = batches * key_heads * shape.slots().count;
    let key: Vec<f32> = numbers(slots * width, 2).iter().map(|number| number * 3.0).collect();
    let value = numbers(slots * value_width, 3);
    let halves = |numbers: &[f32]| numbers.iter().map(|number| Half::from_f32(*number)).collect::<Vec<_>>();
    check_kept(shape, with_masks, Numbers::Floats(&key), Numbers::Floats(&value));
    check_kept(shape, with_masks, Numbers::Halves(&halves(&key)), Numbers::Halves(&halves(&value)));
    let (key, value) = (in_bytes(&key, width).0, in_bytes(&value, value_width).0);
    check_kept(shape, with_masks, Numbers::Bytes(&key), Numbers::Bytes(&value));
}

fn check_kept(shape: &Shape, with_masks: bool, key: Numbers<'_>, value: Numbers<'_>) {
    let &Shape { batches, heads, key_heads, queries, keys, width, value_width, soft_cap, causal, .. } = shape;
    let slots = shape.slots();
    let query: Vec<f32> = numbers(batches * heads * queries * width, 1).iter().map(|number| number * 3.0).collect();
    let bias = numbers(heads * queries * keys, 4);
    let hidden: Vec<f32> = numbers(batches * queries * keys, 5)
        .iter()
        .map(|number| if *number > 0.5 { f32::NEG_INFINITY } else { 0.0 })
        .collect();
    let masks = [
        Mask { numbers: &bias, strides: Strides { batch: 0, head: queries * keys, token: keys } },
        Mask { numbers: &hidden, strides: Strides { batch: queries * keys, head: 0, token: keys } },
    ];
    let attention = Attention {
        batches,
        heads,
        key_heads,
        queries,
        keys,
        width,
        value_width,
        scale: 0.3,
        soft_cap,
        causal,
        slots,
        query: Tokens { numbers: &query[..], strides: strides(heads, queries, width) },
        key: Tokens { numbers: key, strides: strides(key_heads, slots.count, key.row(width)) },
        value: Tokens { numbers: value, strides: strides(key_heads, slots.count, value.row(value_width)) },
        masks: if with_masks { &masks } else { &[] },
        output: strides(heads, queries, value_width),
    };
    let length = batches * heads * queries * value_width;
    let expected = plain(&attention, length);
    for level in Level::available() {
        let mut output = vec![0.25; length];
        let mut memory = vec![f32::NAN; scratch(&attention, &attention.whole())];
        run(level, &attention, &mut output, &mut memory).unwrap();
        let what = std::format!("{} x {queries} x {keys} x {width} with {}", batches * heads, level.name());
        assert_close(&what, &output, &expected, 1e-5);
        assert_eq!(in_parts(level, &attention, length), output, "{what}");
    }
}

/// The same output, item by item, with the queries of each item in two parts.
#[allow(unsafe_code)] // Parts are given an output that others write to.
fn in_parts(level: Level, attention: &Attention, length: usize) -> Vec<f32> {
    let mut output = vec![0.25; length];
    let middle = attention.queries / 2;
    for item in attention.whole().items {
        for queries in [middle..attention.queries, 0..middle] {
            let part = Part { items: item..item + 1, queries };
            let mut memory = vec![f32::NAN; scratch(attention, &part)];
            // SAFETY: the test owns the output.
            unsafe { run_part(level, attention, &raw mut output[..], &part, &mut memory) }.unwrap();
        }
    }
    output
}

#[test]
fn it_is_the_formula() {
    check(&BASE, true);
    for count in [1, 2, 5, 6, 7, 12, 13, 49] {
        check(&Shape { queries: count, keys: count, width: 32, value_width: 32, ..BASE }, true);
        check(&Shape { queries: count, keys: 17, width: 5, value_width: 3, ..BASE }, false);
        check(&Shape { queries: 3, keys: count, width: 33, value_width: 80, ..BASE }, true);
    }
    check(&Shape { batches: 1, queries: 197, keys: 197, width: 64, value_width: 64, ..BASE }, false);
}

#[test]
fn many_keys_are_several_blocks() {
    let base = Shape { batches: 1, heads: 1, key_heads: 1, queries: 13, width: 16, value_width: 20, ..BASE };
    for keys in [255, 256, 257, 512, 700] {
        check(&Shape { keys, ..base }, keys % 2 == 1);
    }
}

#[test]
fn heads_share_keys() {
    check(&Shape { heads: 6, queries: 5, keys: 11, width: 16, value_width: 16, ..BASE }, false);
}

#[test]
fn causal_queries_do_not_look_ahead() {
    let base = Shape { batches: 1, queries: 20, keys: 20, causal: Some(Causal::from(0)), ..BASE };
    check(&base, false);
    check(&Shape { queries: 4, keys: 300, causal: Some(Causal::from(296)), ..base }, true);
    check(&Shape { queries: 300, keys: 300, ..base }, false);
}

#[test]
fn windows_move_with_their_queries() {
    let base = Shape { batches: 1, width: 16, value_width: 16, ..BASE };
    for (queries, first, last, window) in [(20, 0, 19, 1), (40, 280, 39, 33), (300, 0, 250, 40), (30, 600, 11, 16)] {
        let (keys, causal) = (first + last + 1, Some(Causal { first, last, window }));
        check(&Shape { queries, keys, causal, ..base }, false);
        check(&Shape { queries, keys, causal, soft_cap: 1.5, ..base }, true);
    }
}

#[test]
fn keys_are_written_around_the_end() {
    let base = Shape { batches: 1, queries: 12, keys: 300, width: 16, value_width: 16, ..BASE };
    for (first, count) in [(0, 300), (299, 300), (5, 301), (130, 310), (40, 400)] {
        let slots = Slots { first, count };
        check(&Shape { slots, ..base }, false);
        check(&Shape { slots, causal: Some(Causal { first: 288, last: 11, window: 200 }), ..base }, true);
    }
}

#[test]
fn a_query_that_sees_nothing_results_in_zeros() {
    let hidden = [f32::NEG_INFINITY; 4];
    let ones = [1.0; 16];
    let tokens = Tokens { numbers: &ones[..], strides: Strides { batch: 0, head: 0, token: 4 } };
    let kept = Tokens { numbers: Numbers::Floats(&ones), strides: tokens.strides };
    let masks = [Mask { numbers: &hidden, strides: Strides::default() }];
    let attention = Attention {
        batches: 1,
        heads: 1,
        key_heads: 1,
        queries: 2,
        keys: 4,
        width: 4,
        value_width: 4,
        scale: 1.0,
        soft_cap: 0.0,
        causal: None,
        slots: Slots::of(4),
        query: tokens,
        key: kept,
        value: kept,
        masks: &masks,
        output: tokens.strides,
    };
    for level in Level::available() {
        let (mut output, mut memory) = ([1.0; 8], vec![0.0; scratch(&attention, &attention.whole())]);
        run(level, &attention, &mut output, &mut memory).unwrap();
        assert_eq!(output, [0.0; 8], "{}", level.name());
        assert_eq!(run(level, &attention, &mut output[1..], &mut memory), Err(Error::InvalidArgument));
        assert_eq!(run(level, &attention, &mut output, &mut memory[1..]), Err(Error::InvalidArgument));
        let too_many = Attention { keys: 5, slots: Slots::of(5), ..attention };
        assert_eq!(run(level, &too_many, &mut output, &mut [0.0; 9999]), Err(Error::InvalidArgument));
        let blind = Attention { causal: Some(Causal { window: 0, ..Causal::from(0) }), ..attention };
        assert_eq!(run(level, &blind, &mut output, &mut memory), Err(Error::InvalidArgument));
    }
}
