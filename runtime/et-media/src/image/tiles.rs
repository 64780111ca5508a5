//! Pictures to tiles, with the sizes of the image processors of `transformers`.

use et_module::preprocess::{Grid, ImageSteps, TileSteps, Tiles};

use super::{Picture, crop, resize, sized};

/// The tiles of a picture.
///
/// # Errors
/// A picture that cannot be resized.
pub fn tiles(picture: Picture, steps: &TileSteps) -> Result<Tiles, String> {
    let Some(grid) = steps.grid else {
        let picture = sized(picture, &ImageSteps { crop: None, ..steps.image.clone() })?;
        let picture = match steps.image.crop {
            Some(size) => center(&picture, size)?,
            None => picture,
        };
        return Ok(single(picture));
    };
    let resized =
        |picture: &Picture, [height, width]: [usize; 2]| resize::resize(picture, height, width, steps.image.filter);
    let picture = picture.in_color(steps.image.color);
    let picture = resized(&picture, longer_side([picture.height(), picture.width()], grid.longest))?;
    let small = [grid.side; 2];
    if !grid.is_split {
        return Ok(single(resized(&picture, small)?));
    }
    let whole = whole_tiles([picture.height(), picture.width()], grid);
    let picture = resized(&picture, whole)?;
    let [rows, columns] = whole.map(|size| size / grid.side);
    if rows <= 1 && columns <= 1 {
        return Ok(single(picture));
    }
    let mut pixels = Vec::with_capacity(rows * columns + 1);
    for place in 0..rows * columns {
        let [top, left] = [place / columns, place % columns].map(|index| index * grid.side);
        pixels.push(crop::part(&picture, [top, left], small)?.into_bytes());
    }
    pixels.push(resized(&picture, small)?.into_bytes());
    Ok(Tiles { rows, columns, size: small, pixels })
}

/// A picture as one tile.
fn single(picture: Picture) -> Tiles {
    let size = [picture.height(), picture.width()];
    Tiles { rows: 0, columns: 0, size, pixels: vec![picture.into_bytes()] }
}

/// The center of a picture. Of an odd difference, `transformers` cuts the lesser half first, and torchvision either half.
fn center(picture: &Picture, [height, width]: [usize; 2]) -> Result<Picture, String> {
    let offset = |size: usize, wanted: usize| Some(size.checked_sub(wanted)? / 2);
    match (offset(picture.height(), height), offset(picture.width(), width)) {
        (Some(top), Some(left)) => crop::part(picture, [top, left], [height, width]),
        _ => crop::center(picture, height, width),
    }
}

/// The most pixels of a side, as in `transformers`.
const MOST: usize = 4096;

/// The size with the aspect ratio of `size` and a longer side of `longest`. The shorter side is even.
fn longer_side([height, width]: [usize; 2], longest: usize) -> [usize; 2] {
    let ratio = width as f64 / height as f64;
    let even = |side: f64| (side as usize).next_multiple_of(2).max(1);
    let [height, width] = match width >= height {
        true => [even(longest as f64 / ratio), longest],
        false => [longest, even(longest as f64 * ratio)],
    };
    let ratio = width as f64 / height as f64;
    match () {
        () if width >= height && width > MOST => [((MOST as f64 / ratio) as usize).max(1), MOST],
        () if height > width && height > MOST => [MOST, ((MOST as f64 * ratio) as usize).max(1)],
        () => [height, width],
    }
}

/// The size in whole tiles: the longer side is rounded up, then the shorter side of that aspect ratio.
fn whole_tiles([height, width]: [usize; 2], Grid { side, .. }: Grid) -> [usize; 2] {
    let ratio = width as f64 / height as f64;
    let up = |size: usize| size.div_ceil(side).max(1) * side;
    match width >= height {
        true => [up((up(width) as f64 / ratio) as usize), up(width)],
        false => [up(height), up((up(height) as f64 * ratio) as usize)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_image_processor() {
        // `get_resize_output_image_size` and `resize_for_vision_encoder` of Idefics3.
        for (size, resized, whole) in [
            ([480, 640], [1092, 1456], [1092, 1456]),
            ([640, 480], [1456, 1092], [1456, 1092]),
            ([100, 101], [1442, 1456], [1456, 1456]),
            ([30, 500], [88, 1456], [364, 1456]),
        ] {
            assert_eq!(longer_side(size, 1456), resized);
            let grid = Grid { longest: 1456, side: 364, is_split: true };
            assert_eq!(whole_tiles(resized, grid), whole);
        }
        assert_eq!(longer_side([10, 5], 5000), [4096, 2048]);
    }
}
