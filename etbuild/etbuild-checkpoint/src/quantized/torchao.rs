//! Checkpoints of the library torchao: integers, or numbers of 8 bits, with scales and zero points of blocks.
//!
//! A matrix `module.weight` of one of torchao's classes is stored as `module._weight_qdata`, `module._weight_scale` and further parts, and the
//! header of the file names the class. Shapes say the rest: a scale is of as many rows and columns as the matrix has for each scale.
//! What a class says about activations is left to the recipe.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_weights::{Affine, Encoded, Fp8, Lanes, Packing, Tensor, Zeros, integers, reals};
use serde_json::Value;

use super::place::Place;
use super::{REALS, optional, part, tiles, typed};
use crate::config::Config;
use crate::shards::Tensors;
use crate::{CheckpointError, Decoder};

/// The key of the configuration that says how matrices were quantized: the name of a method, or a map of maps with the names of classes.
const KIND: &str = "quant_type";

/// Makes the matrix of a tensor of a class, of which the part of this name has the elements.
type Make = fn(&mut Tensors, &Place<'_>, &str) -> Result<(), CheckpointError>;

/// The classes, and the part with the elements. Those with `AQT` and `QDQ` are of older versions of torchao, in files of `torch.save`.
const CLASSES: &[(&str, &str, Make)] = &[
    ("Float8AQTTensorImpl", "float8_data", numbers),
    ("Float8Tensor", "qdata", numbers),
    ("Int4Tensor", "qdata", halves),
    ("Int4TilePackedTo4dTensor", "qdata", tiles::add),
    ("Int8Tensor", "qdata", bytes),
    ("IntxUnpackedToInt8Tensor", "qdata", bytes),
    ("PlainAQTTensorImpl", INTEGERS, bytes),
    ("QDQTensorImpl", INTEGERS, bytes),
    ("TensorCoreTiledAQTTensorImpl", "packed_weight", tiles::add),
];

/// The integers of older classes, which state in what domain zero points are: those that are numbers have another meaning there.
const INTEGERS: &str = "int_data";

/// The error for a class that is not supported, or not with a part.
fn refused(place: &Place<'_>, with: &str) -> CheckpointError {
    let known: Vec<&str> = CLASSES.iter().map(|(name, ..)| *name).collect();
    let (tensor, class, with) = (place.tensor.to_owned(), place.class.name.clone(), with.to_owned());
    CheckpointError::Class { tensor, class, with, known: known.join(", ") }
}

/// Makes the matrices of all tensors with a class.
///
/// # Errors
/// Classes that are not known; parts that are missing or of another shape.
pub fn assemble(tensors: &mut Tensors) -> Result<(), CheckpointError> {
    for (tensor, class) in &tensors.take_classes() {
        let (module, ending) = tensor.rsplit_once('.').unwrap_or_default();
        let place = Place { tensor, module, ending, class };
        let found = CLASSES.iter().find(|(name, ..)| *name == class.name);
        let (_, elements, make) = found.ok_or_else(|| refused(&place, ""))?;
        // A factor of activations, which no other form has.
        if tensors.get(&format!("{module}.{}", place.part("act_pre_scale"))).is_some() {
            return Err(refused(&place, " with `act_pre_scale`"));
        }
        make(tensors, &place, elements)?;
    }
    Ok(())
}

/// The matrices are there: what is left is a check of the configuration.
pub fn add(config: &Config, _: &mut Decoder, tensors: &mut Tensors) -> Result<(), CheckpointError> {
    const OTHER: &str = "float8_e5m2";
    if config.value(KIND).is_some_and(|kind| states(kind, &|key, text| key == "weight_dtype" && text == OTHER)) {
        return Err(config.mistake(KIND, format!("has weights of `{OTHER}`; supported: `float8_e4m3fn`")));
    }
    let is_part = |name: &&str| CLASSES.iter().any(|(_, elements, _)| name.ends_with(&format!("_{elements}")));
    let left = tensors.names().find(is_part).map(str::to_owned);
    left.map_or(Ok(()), |shard| {
        let reason = "the header of the file does not state the class of its tensor".to_owned();
        Err(CheckpointError::ShardMalformed { shard, reason })
    })
}

/// Whether some matrices are integers.
pub fn stores_integers(config: &Config) -> bool {
    let is_integer =
        |key: &str, text: &str| matches!(key, "_type" | "default" | KIND) && text.to_lowercase().starts_with("int");
    config.value(KIND).is_some_and(|kind| match kind {
        Value::String(text) => is_integer(KIND, text),
        _ => states(kind, &is_integer),
    })
}

/// Whether a text of a map, or of a map within, is as asked by key and text. Types are maps with the text under `_data`.
fn states(value: &Value, asked: &dyn Fn(&str, &str) -> bool) -> bool {
    let Value::Object(map) = value else { return false };
    map.iter().any(|(key, value)| {
        let text = value.as_str().or_else(|| value.get("_data")?.as_str());
        text.is_some_and(|text| asked(key, text)) || states(value, asked)
    })
}

/// Numbers of 8 bits with scales of blocks.
fn numbers(tensors: &mut Tensors, place: &Place<'_>, elements: &str) -> Result<(), CheckpointError> {
    let [rows, columns] = place.sizes(tensors, elements)?;
    let codes = part(tensors, place.module, &place.part(elements), &[rows, columns])?;
    let codes = typed(codes, place.tensor, &[ScalarType::Byte])?;
    let scales = place.any(tensors, "scale")?;
    let [of_rows, of_columns] = counts(place, &scales, [rows, columns])?;
    let block = [rows / of_rows, columns / of_columns];
    let form = Arc::new(Fp8 { codes, scales: typed(scales, place.tensor, REALS)?, block, columns });
    tensors.add_encoded(place.tensor.to_owned(), vec![rows, columns], Encoded { form, columns })
}

/// The names of signed integers by the number of bits.
const NAMES: [&str; 8] = [
    "int1 of torchao",
    "int2 of torchao",
    "int3 of torchao",
    "int4 of torchao",
    "int5 of torchao",
    "int6 of torchao",
    "int7 of torchao",
    "int8 of torchao",
];

/// The bits of the integers of a class: 8 where the class does not say, and the name of such integers.
fn bits(place: &Place<'_>) -> Result<(usize, &'static str), CheckpointError> {
    let stated = place.class.integers.as_deref().unwrap_or("int8");
    let bits: Option<usize> = stated.strip_prefix("int").and_then(|bits| bits.parse().ok());
    let name = bits.and_then(|bits| Some((bits, *NAMES.get(bits.checked_sub(1)?)?)));
    name.ok_or_else(|| refused(place, &format!(" of `{stated}`")))
}

/// Signed integers of up to 8 bits, each in a byte, with scales and zero points of blocks.
fn bytes(tensors: &mut Tensors, place: &Place<'_>, elements: &str) -> Result<(), CheckpointError> {
    let (bits, name) = bits(place)?;
    let sizes @ [rows, columns] = place.sizes(tensors, elements)?;
    let stored = part(tensors, place.module, &place.part(elements), &sizes)?;
    let scales = place.any(tensors, "scale")?;
    let counts = counts(place, &scales, sizes)?;
    let scales = typed(scales, place.tensor, REALS)?;
    // A class without zero points may have an empty tensor in their place.
    let zeros = optional(tensors, place.module, &place.part("zero_point")).filter(|zeros| zeros.shape != [0]);
    let zeros = match zeros {
        None => Zeros::Same(0),
        Some(zeros) if elements == INTEGERS && REALS.contains(&zeros.scalar_type) => {
            return Err(refused(place, " with numbers as zero points"));
        }
        Some(zeros) if zeros.shape == scales.0.shape => zeros_of_rows(zeros, &scales, place, (rows, counts))?,
        Some(zeros) => return Err(place.misfit(&zeros, &counts)),
    };
    let matrix = Affine {
        name,
        integers: typed(stored, place.tensor, &[ScalarType::Char])?,
        bits,
        packing: Packing::Bytes,
        zeros,
        scales: repeated(scales, rows, counts),
        scales_by_row: true,
        groups: None,
        sizes: [rows, columns, columns / counts[1]],
    };
    place.add(tensors, matrix)
}

/// Signed integers of 4 bits in groups of columns, with scales, and with numbers that are added to the products.
fn halves(tensors: &mut Tensors, place: &Place<'_>, elements: &str) -> Result<(), CheckpointError> {
    let [rows, bytes] = place.sizes(tensors, elements)?;
    let [groups, _] = place.sizes(tensors, "scale")?;
    let columns = bytes.saturating_mul(2);
    let group = columns.checked_div(groups).filter(|group| *group > 0 && group * groups == columns);
    let stored = part(tensors, place.module, &place.part(elements), &[rows, bytes])?;
    let group = group.ok_or_else(|| place.misfit(&stored, &[rows, groups]))?;
    let scales = part(tensors, place.module, &place.part("scale"), &[groups, rows])?;
    let biases = typed(part(tensors, place.module, &place.part("zero_point"), &[groups, rows])?, place.tensor, REALS)?;
    let matrix = Affine {
        name: NAMES[3],
        integers: typed(stored, place.tensor, &[ScalarType::Char, ScalarType::Byte])?,
        bits: 4,
        packing: Packing::Nibbles,
        scales: typed(scales, place.tensor, REALS)?,
        scales_by_row: false,
        zeros: if biases.0.is_zero() { Zeros::Same(0) } else { Zeros::BiasesByGroup(biases) },
        groups: None,
        sizes: [rows, columns, group],
    };
    place.add(tensors, matrix)
}

/// How many blocks the scales of a matrix are for, along rows and columns: one, one for each row, or as many as the shape says.
fn counts(place: &Place<'_>, scales: &Tensor, sizes: [usize; 2]) -> Result<[usize; 2], CheckpointError> {
    let counts = match scales.shape[..] {
        [] | [1] => [1, 1],
        [rows] => [rows, 1],
        [rows, columns] => [rows, columns],
        _ => [0, 0],
    };
    let fits = counts.iter().zip(sizes).all(|(count, size)| *count > 0 && size > 0 && size.is_multiple_of(*count));
    if fits { Ok(counts) } else { Err(place.misfit(scales, &sizes)) }
}

/// The scales of each row, where several rows share some.
fn repeated(scales: Lanes, rows: usize, counts: [usize; 2]) -> Lanes {
    if counts[0] == rows { scales } else { numbers_of_rows(rows, counts, |index| scales.real(index)) }
}

/// Numbers for the blocks of each row, `float32 [rows, blocks]`, of the numbers of the blocks of a matrix.
fn numbers_of_rows(rows: usize, [of_rows, of_columns]: [usize; 2], number: impl Fn(usize) -> f32) -> Lanes {
    let block = rows / of_rows;
    let all = (0..rows).flat_map(|row| (0..of_columns).map(move |column| row / block * of_columns + column));
    let numbers: Vec<f32> = all.map(number).collect();
    let shard = Arc::new(reals::stored(&numbers));
    Lanes(Tensor { scalar_type: ScalarType::Float, shape: vec![rows, of_columns], shard, start: 0 })
}

/// Zero points of blocks, of which products with the scales are taken away: signed bytes, other integers, or numbers.
fn zeros_of_rows(
    zeros: Tensor,
    scales: &Lanes,
    place: &Place<'_>,
    (rows, counts): (usize, [usize; 2]),
) -> Result<Zeros, CheckpointError> {
    let (is_bytes, zeros) = (zeros.scalar_type == ScalarType::Char, Lanes(zeros));
    let all = match integers::read(zeros.0.scalar_type, zeros.bytes()) {
        Some(all) => all.into_iter().map(|zero| zero as f32).collect(),
        None => typed(zeros.0.clone(), place.tensor, REALS)?.reals(0, 1),
    };
    let zero = |index: usize| all.get(index).copied().unwrap_or_default();
    Ok(match all.iter().all(|zero| *zero == 0.0) {
        true => Zeros::Same(0),
        false if is_bytes && counts[0] == rows => Zeros::Bytes(zeros),
        false => Zeros::Biases(numbers_of_rows(rows, counts, |index| -zero(index) * scales.real(index))),
    })
}
