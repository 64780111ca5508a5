//! Permutations of dimensions: `aten.permute`.

use etbuild_ir::Argument;

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `transpose(self, dim0, dim1)`.
pub fn swap(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    if rank == 0 {
        return Ok(vec![input]);
    }
    let mut dims: Vec<usize> = (0..rank).collect();
    dims.swap(call.dim(1, rank)?, call.dim(2, rank)?);
    Ok(vec![editor.permute(input, &dims)?])
}

/// `t(self)` and `numpy_T(self)`: reverses the dimensions.
pub fn reverse(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dims: Vec<usize> = (0..editor.spec(input).rank()).rev().collect();
    Ok(vec![editor.permute(input, &dims)?])
}

/// `movedim(self, source, destination)`.
pub fn move_one(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (source, destination) = (call.dim(1, rank)?, call.dim(2, rank)?);
    let mut dims: Vec<usize> = (0..rank).collect();
    if source >= dims.len() {
        return Err(Reason::Arguments);
    }
    let moved = dims.remove(source);
    dims.insert(destination, moved);
    Ok(vec![editor.permute(input, &dims)?])
}

/// `movedim(self, sources, destinations)`.
pub fn move_many(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let (sources, destinations) = (call.dims(1, rank)?, call.dims(2, rank)?);
    let mut rest = (0..rank).filter(|dim| !sources.contains(dim));
    let dim = |place: usize| match destinations.iter().position(|destination| *destination == place) {
        Some(index) => sources.get(index).copied(),
        None => rest.next(),
    };
    let dims: Vec<usize> = (0..rank).map(dim).collect::<Option<_>>().ok_or(Reason::Arguments)?;
    Ok(vec![editor.permute(input, &dims)?])
}

/// `mT(self)` and `adjoint(self)` of real tensors: swaps the last two dimensions.
pub fn transpose(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.transpose(call.value(0)?)?])
}

/// `rot90(self, k, dims)`: quarter turns from the first dimension towards the second.
pub fn turn(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let rank = editor.spec(input).rank();
    let [first, second] = call.dims(2, rank)?[..] else { return Err(Reason::Arguments) };
    let flip = |editor: &mut Editor, of, dims: &[usize]| {
        let dims = Argument::Ints(dims.iter().map(|dim| *dim as i64).collect());
        editor.map("flip.default", of, vec![dims])
    };
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(first, second);
    Ok(vec![match call.int(1)?.rem_euclid(4) {
        1 => {
            let flipped = flip(editor, input, &[second])?;
            editor.permute(flipped, &order)?
        }
        2 => flip(editor, input, &[first, second])?,
        3 => {
            let turned = editor.permute(input, &order)?;
            flip(editor, turned, &[second])?
        }
        _ => input,
    }])
}

/// `channel_shuffle(self, groups)`: interleaves the channels of the groups.
pub fn shuffle(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dims = editor.dims(input);
    let [batch, channels, area @ ..] = &dims[..] else { return Err(Reason::Arguments) };
    let groups = i32::try_from(call.int(1)?).ok().filter(|groups| *groups > 0).ok_or(Reason::Arguments)?;
    let each = Dim::from(channels.fixed()? / groups);
    let grouped = editor.view_as(input, &[*batch, groups.into(), each, Dim::product(area)])?;
    let shuffled = editor.permute(grouped, &[0, 2, 1, 3])?;
    Ok(vec![editor.view_as(shuffled, &dims)?])
}

/// `fliplr(self)` and `flipud(self)`.
pub fn mirror(editor: &mut Editor, call: &Call) -> Rewritten {
    let dim = i64::from(call.operator.name() == "fliplr");
    Ok(vec![editor.map("flip.default", call.value(0)?, vec![Argument::Ints(vec![dim])])?])
}

/// `mH` of real matrices.
pub fn adjoint(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.output()?.scalar_type.is_complex() {
        return Err(Reason::Unsupported("`mH` of complex numbers"));
    }
    transpose(editor, call)
}
