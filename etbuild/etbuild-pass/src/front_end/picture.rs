//! The picture of a camera ahead of a model: `etbuild::pixels` of bytes.

use et_core::ScalarType;
use et_signal::tables::{Resampling, Taps, cut, is_columns_first};
use et_signal::{PixelFormat, work_bytes};
use etbuild_ir::{Argument, Graph, Node, TensorSpec, ValueId, ValueKind};

use super::{FrontEndError, constant, ints, node, replace_input};
use crate::edit::wide;

/// The steps from a camera's picture to the input of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CameraPicture {
    /// The height and the width of the camera's picture.
    pub size: [usize; 2],
    /// The bytes of a pixel.
    pub bytes: usize,
    /// What the bytes are.
    pub format: PixelFormat,
    /// The height and the width after resizing.
    pub resized: [usize; 2],
    /// The filter of the resizing.
    pub filter: Resampling,
    /// The height and the width of the center that is kept.
    pub kept: [usize; 2],
    /// The bits of the model's numbers for the 8-bit values, for each channel.
    pub values: Vec<u32>,
    /// Whether the channels are the last dimension of the model's input.
    pub channels_last: bool,
}

/// Makes the input bytes, `[1, height, width, bytes]`, and the old input their picture.
pub fn attach(graph: &mut Graph, input: ValueId, picture: &CameraPicture) -> Result<(), FrontEndError> {
    let channels = picture.format.channels(picture.bytes).unwrap_or(0);
    let [height, width] = picture.kept.map(|side| side as i32);
    let wanted =
        if picture.channels_last { [height, width, channels as i32] } else { [channels as i32, height, width] };
    check(graph, input, picture, wanted)?;
    let name = graph.value(input).name.clone();
    let [rows, columns] = [0, 1].map(|axis| Axis::of(picture, axis));
    let columns_first = is_columns_first(picture.size, picture.resized);
    let kept = rows.most;
    let size = [picture.size[0], picture.size[1], picture.bytes].map(|size| size as i64);
    let frame = TensorSpec::contiguous(ScalarType::Byte, [1, size[0] as i32, size[1] as i32, size[2] as i32]);
    let [frame, computed] = replace_input(graph, input, frame);
    let bytes = size.iter().product::<i64>();
    let flat = graph.add_value(&name, TensorSpec::contiguous(ScalarType::Byte, [bytes as i32]), ValueKind::Computed);
    let view = |from, sizes: &[i32], to| node("view", vec![Argument::Value(from), wide(sizes)], vec![to]);
    let mut nodes = vec![view(frame, &[bytes as i32], flat)];
    let ring = (!columns_first).then_some([kept, picture.kept[1]]);
    let work = work_bytes(picture.size[1], channels, ring).unwrap_or(0);
    let work = TensorSpec::contiguous(ScalarType::Byte, [work as i32]);
    let outputs = [TensorSpec::contiguous(ScalarType::Float, wanted), work];
    let outputs = outputs.map(|spec| graph.add_value(&name, spec, ValueKind::Computed));
    let mut arguments = vec![Argument::Value(flat), Argument::Ints(size.to_vec())];
    for (what, axis) in [("rows", rows), ("columns", columns)] {
        arguments.push(ints(graph, &format!("{name}.{what}"), &axis.places));
        arguments.push(ints(graph, &format!("{name}.{what}.weights"), &axis.weights));
    }
    arguments.push(values(graph, &name, &picture.values));
    let format = PixelFormat::ALL.iter().position(|format| *format == picture.format).unwrap_or(0);
    arguments.extend([
        Argument::Int(format as i64),
        Argument::Bool(columns_first),
        Argument::Int(kept as i64),
        Argument::Bool(picture.channels_last),
    ]);
    nodes.push(Node { outputs: outputs.to_vec(), ..node("pixels", arguments, Vec::new()) });
    nodes.push(view(outputs[0], &graph.spec(computed).sizes, computed));
    graph.nodes.splice(0..0, nodes);
    Ok(())
}

/// Refuses an input that the picture does not fill.
fn check(graph: &Graph, input: ValueId, picture: &CameraPicture, wanted: [i32; 3]) -> Result<(), FrontEndError> {
    let value = graph.value(input);
    let misfit = |sentence: String| Err(FrontEndError::Misfit(sentence));
    let sizes = &value.spec.sizes;
    let fills = sizes.ends_with(&wanted) || wanted[0] == 1 && sizes.ends_with(&wanted[1..]);
    let is_single = value.spec.numel() == wanted.iter().map(|size| *size as usize).product();
    if value.spec.is_dynamic() || value.spec.scalar_type != ScalarType::Float || !(fills && is_single) {
        let found = format!("{} {sizes:?}", value.spec.scalar_type.name());
        return misfit(format!("the picture is float32 {wanted:?}, and the input `{}` is {found}", value.name));
    }
    let [[height, width], [rows, columns]] = [picture.resized, picture.kept];
    if rows > height || columns > width {
        return misfit(format!("the picture of {height}x{width} pixels is smaller than the crop of {rows}x{columns}"));
    }
    if graph.updates.iter().any(|update| update.target == input) {
        return misfit(format!("the model writes to its input `{}`, which would be a picture", value.name));
    }
    Ok(())
}

/// The input pixels of the output pixels along an axis.
struct Axis {
    places: Vec<i32>,
    weights: Vec<i32>,
    /// The most input pixels of an output pixel.
    most: usize,
}

impl Axis {
    /// Axis 0 has rows, axis 1 columns.
    fn of(picture: &CameraPicture, axis: usize) -> Self {
        let [size, resized, kept] = [picture.size, picture.resized, picture.kept].map(|sizes| sizes[axis]);
        let taps = picture.filter.taps(size, resized).into_iter().skip(cut(resized, kept)).take(kept);
        let mut all = Self { places: Vec::new(), weights: Vec::new(), most: 1 };
        for Taps { first, weights } in taps {
            all.places.extend([first, weights.len(), all.weights.len()].map(|number| number as i32));
            all.most = all.most.max(weights.len());
            all.weights.extend(weights);
        }
        all
    }
}

/// The table of values: one for all channels where these have equal values.
fn values(graph: &mut Graph, name: &str, values: &[u32]) -> Argument {
    let (first, _) = values.split_at_checked(256).unwrap_or((values, &[]));
    let values = if values.chunks(256).all(|channel| channel == first) { first } else { values };
    let bytes = values.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    constant(graph, &format!("{name}.values"), ScalarType::Float, values.len(), bytes)
}
