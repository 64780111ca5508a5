//! Named data of a program file that describes the pictures of a model.

use std::fmt::Write;
use std::str::FromStr;

use et_llm::Error;
use et_module::preprocess::{Grid, ImageSteps, Preprocess, TileSteps, from_text, to_text};

use crate::Patches;

/// The key of the named data with [`Facts`].
pub const VISION_KEY: &str = "etbuild.vision";

/// The facts about pictures: lines of a word and a text, such as `tokens 64`. A line break in a text is `\n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// `mark`: the text that stands for a picture in chat templates.
    pub mark: String,
    /// `image`: the text of an image token.
    pub image: String,
    /// `token`: the image token.
    pub token: u32,
    /// `tokens`: the image tokens of a tile; with `patches`, the most image tokens of a picture.
    pub tokens: usize,
    /// `side`: the side of a tile in pixels; with `patches`, the side of the square of an image token.
    pub side: usize,
    /// `patches`, `table` for the side of a table of position embeddings, `breaks` for the tokens behind rows, and `in_order` for positions
    /// that follow each other: how the model reads pictures of any size, if so.
    pub patches: Option<Patches>,
    /// `before`: the text before the tile of a whole picture.
    pub before: String,
    /// `after`: the text behind this tile.
    pub after: String,
    /// `tile_before`: the text before a tile of the grid, with `{row}` and `{column}` from 1.
    pub tile_before: String,
    /// `row_after`: the text behind a row of the grid.
    pub row_after: String,
    /// `grid_after`: the text behind the grid.
    pub grid_after: String,
    /// `grid` and the line of preprocessing: the steps from a picture to tiles.
    pub steps: TileSteps,
}

/// The name of the line of preprocessing.
const PIXELS: &str = "pixels";

/// The largest numbers of facts: a damaged file may have any.
const MOST: usize = 1 << 16;
/// The most frames of a patch.
const MOST_FRAMES: usize = 64;
/// The longest side of a table of position embeddings.
const MOST_ROWS: usize = 1 << 10;

impl Facts {
    /// The lines, which [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let Self { mark, image, token, tokens, side, patches, .. } = self;
        let Self { before, after, tile_before, row_after, grid_after, steps, .. } = self;
        let mut text = format!("token {token}\ntokens {tokens}\nside {side}\n");
        let texts = [
            ("mark", mark),
            ("image", image),
            ("before", before),
            ("after", after),
            ("tile_before", tile_before),
            ("row_after", row_after),
            ("grid_after", grid_after),
        ];
        for (word, value) in texts {
            let _ = writeln!(text, "{word} {}", value.replace('\\', "\\\\").replace('\n', "\\n"));
        }
        if let Some(Patches { patch, frames, window, table, breaks, in_order }) = patches {
            let _ = writeln!(text, "patches {patch} {frames} {window}");
            if *table > 0 {
                let _ = writeln!(text, "table {table}");
            }
            if let Some([row, last]) = breaks {
                let _ = writeln!(text, "breaks {row} {last}");
            }
            if *in_order {
                let _ = writeln!(text, "in_order {in_order}");
            }
        }
        if let Some(Grid { longest, side, is_split }) = steps.grid {
            let _ = writeln!(text, "grid {longest} {side} {is_split}");
        }
        text + &to_text([(&PIXELS.to_owned(), &Preprocess::Image(steps.image.clone()))])
    }

    /// Reads the lines, and skips lines with unknown words.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for malformed lines.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("it is no text"))?;
        let find = |word: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(name, _)| *name == word).map(|(_, value)| value)
        };
        let value = |word: &str| find(word).ok_or_else(|| malformed(&format!("there is no `{word}`")));
        let texts = |word: &str| value(word).map(unescaped);
        let facts = Self {
            mark: texts("mark")?,
            image: texts("image")?,
            token: number(value("token")?)?,
            tokens: number(value("tokens")?)?,
            side: number(value("side")?)?,
            patches: find("patches")
                .map(|text| patches(text, ["table", "breaks", "in_order"].map(find)))
                .transpose()?,
            before: texts("before")?,
            after: texts("after")?,
            tile_before: texts("tile_before")?,
            row_after: texts("row_after")?,
            grid_after: texts("grid_after")?,
            steps: TileSteps { image: pixels(text)?, grid: find("grid").map(grid).transpose()? },
        };
        let has_range = (1..=MOST).contains(&facts.tokens) && (1..=MOST).contains(&facts.side);
        let has_patches = facts.patches.is_none_or(|patches| {
            let has_frames = (1..=MOST_FRAMES).contains(&patches.frames) && patches.table <= MOST_ROWS;
            patches.patch > 0 && facts.side.is_multiple_of(patches.patch) && has_frames
        });
        let has_grid = facts.steps.grid.is_none_or(|grid| grid.side > 0 && grid.longest > 0);
        if has_range && has_patches && has_grid && !facts.mark.is_empty() {
            Ok(facts)
        } else {
            Err(malformed("a value is out of range"))
        }
    }
}

fn malformed(reason: &str) -> Error {
    Error::NotALanguageModel(format!("`{VISION_KEY}` is malformed: {reason}"))
}

fn number<T: FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| malformed(&format!("`{text}` is no number")))
}

fn patches(text: &str, [table, breaks, in_order]: [Option<&str>; 3]) -> Result<Patches, Error> {
    let words: Vec<&str> = text.split(' ').collect();
    let [patch, frames, window] = words[..] else { return Err(malformed("`patches` has other words")) };
    let table = table.map(number).transpose()?.unwrap_or(0);
    let breaks = breaks.map(self::breaks).transpose()?;
    let in_order = in_order.map(number).transpose()?.unwrap_or(false);
    Ok(Patches { patch: number(patch)?, frames: number(frames)?, window: number(window)?, table, breaks, in_order })
}

fn breaks(text: &str) -> Result<[u32; 2], Error> {
    let (row, last) = text.split_once(' ').ok_or_else(|| malformed("`breaks` has other words"))?;
    Ok([number(row)?, number(last)?])
}

fn grid(text: &str) -> Result<Grid, Error> {
    let words: Vec<&str> = text.split(' ').collect();
    let [longest, side, is_split] = words[..] else { return Err(malformed("`grid` has other words")) };
    Ok(Grid { longest: number(longest)?, side: number(side)?, is_split: number(is_split)? })
}

/// The steps of the line of preprocessing.
fn pixels(text: &str) -> Result<ImageSteps, Error> {
    let line = text.lines().find(|line| line.split('\t').next() == Some(PIXELS));
    let steps = line.and_then(from_text).and_then(|mut steps| steps.remove(PIXELS));
    match steps {
        Some(Preprocess::Image(steps)) => Ok(steps),
        _ => Err(malformed("the line of preprocessing is missing, or of another form")),
    }
}

/// The text of a value.
fn unescaped(value: &str) -> String {
    let (mut text, mut characters) = (String::new(), value.chars());
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next().map(|next| if next == 'n' { '\n' } else { next })),
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use et_module::preprocess::{Color, Filter, Layout, Scale};

    use super::*;

    /// Facts of a model whose pictures are grids of tiles of 2 by 2 pixels and 3 tokens.
    pub fn facts() -> Facts {
        let text = str::to_owned;
        Facts {
            mark: text("<image>"),
            image: text("<image>"),
            token: 9,
            tokens: 3,
            side: 2,
            patches: None,
            before: text("<fake><global-img>"),
            after: text("<fake>"),
            tile_before: text("<fake><row_{row}_col_{column}>"),
            row_after: text("\n"),
            grid_after: text("\n"),
            steps: TileSteps {
                image: ImageSteps {
                    color: Color::Rgb,
                    resize: None,
                    filter: Filter::Lanczos,
                    crop: None,
                    scale: Scale { numerator: 1.0, denominator: 255.0 },
                    mean: vec![0.5; 3],
                    std: vec![0.5; 3],
                    layout: Layout::Nchw,
                },
                grid: Some(Grid { longest: 8, side: 2, is_split: true }),
            },
        }
    }

    #[test]
    fn facts_read_back_from_their_text() {
        let facts = Facts { before: "a\\n\n\\".to_owned(), after: String::new(), ..facts() };
        assert_eq!(Facts::parse(facts.to_text().as_bytes()).unwrap(), facts);
        for table in [0, 48] {
            let breaks = (table > 0).then_some([12, 13]);
            let patches = Patches { patch: 14, frames: 2, window: 4, table, breaks, in_order: table == 0 };
            let facts = Facts { side: 28, patches: Some(patches), ..facts.clone() };
            assert_eq!(Facts::parse(facts.to_text().as_bytes()).unwrap(), facts);
            assert!(Facts::parse(facts.to_text().replace("patches 14", "patches 13").as_bytes()).is_err());
            let wide = facts.to_text().replace("table 48", "table 4800");
            assert_eq!(Facts::parse(wide.as_bytes()).is_err(), table > 0);
        }
    }

    #[test]
    fn malformed_facts_are_errors() {
        let text = facts().to_text();
        for (old, new) in
            [("tokens 3", "tokens 0"), ("side 2", "side x"), ("mark", "m"), ("grid 8", "grid"), (PIXELS, "x")]
        {
            assert!(Facts::parse(text.replacen(old, new, 1).as_bytes()).is_err(), "{new}");
        }
    }
}
