//! Prompts of texts and pictures, as the processors of `transformers` make prompts.

use std::fmt::Write;
use std::hash::RandomState;
use std::sync::Arc;

use et_llm::{Error, Picture, Prompt, Text, Tile, Viewer};
use et_module::preprocess::{Media, ReadTiles, Tiles};

use crate::Facts;

/// Makes prompts by the facts of a program file.
pub struct View {
    facts: Facts,
    read: ReadTiles,
    /// The keys of the hashes of pixels, which nobody knows: no client can make a picture with the hash of another one.
    state: RandomState,
}

impl View {
    /// A view whose pictures are decoded by `read`.
    pub fn new(facts: Facts, read: ReadTiles) -> Self {
        Self { facts, read, state: RandomState::new() }
    }

    /// A picture of any size.
    fn whole(&self, tiles: Tiles) -> Result<Picture, Error> {
        let Facts { side, tokens: most, .. } = self.facts;
        let ([height, width], pixels) = (tiles.size, tiles.pixels.into_iter().next().unwrap_or_default());
        let grid = [height, width].map(|length| length / side.max(1));
        let count = grid[0].saturating_mul(grid[1]);
        if count == 0 || pixels.len() != 3 * count * side * side {
            return Err(Error::Picture(format!("{height}x{width} pixels are no squares of {side} pixels")));
        }
        if count > most {
            let made = format!("it becomes {height}x{width} pixels, which are {count} image tokens");
            return Err(Error::Picture(format!("{made}, and the program was built for at most {most}")));
        }
        let make = match self.facts.patches {
            Some(patches) if patches.breaks.is_some() => Tile::of_rows,
            Some(patches) if patches.in_order => Tile::in_order,
            _ => Tile::of_grid,
        };
        let tile = Arc::new(make(grid, pixels, &self.state));
        Ok(Picture { rows: 0, columns: 0, is_sound: false, tiles: vec![tile] })
    }

    /// The text of a picture.
    fn text(&self, picture: &Picture) -> String {
        let Facts { image, tokens, before, after, tile_before, row_after, grid_after, .. } = &self.facts;
        let tokens = if self.facts.patches.is_some() {
            picture.tiles.iter().map(|tile| tile.tokens().len()).sum()
        } else {
            *tokens
        };
        let (images, mut text) = (image.repeat(tokens), String::new());
        for row in 1..=picture.rows {
            for column in 1..=picture.columns {
                let numbers = [("{row}", row), ("{column}", column)];
                let place = |text: String, (word, number): (&str, usize)| text.replace(word, &number.to_string());
                let _ = write!(text, "{}{images}", numbers.into_iter().fold(tile_before.clone(), place));
            }
            text.push_str(row_after);
        }
        if picture.rows > 0 {
            text.push_str(grid_after);
        }
        text + before + &images + after
    }
}

impl Viewer for View {
    fn mark(&self) -> &str {
        &self.facts.mark
    }

    fn picture(&self, media: Media<'_>) -> Result<Picture, Error> {
        let tiles = (self.read)(media, &self.facts.steps).map_err(Error::Picture)?;
        if self.facts.patches.is_some() {
            return self.whole(tiles);
        }
        let size = 3 * self.facts.side * self.facts.side;
        if tiles.pixels.iter().any(|pixels| pixels.len() != size) || tiles.pixels.is_empty() {
            return Err(Error::Picture(format!("a tile has another size than {0}x{0} pixels", self.facts.side)));
        }
        let tile = |pixels| Arc::new(Tile::hashed(pixels, self.facts.tokens, &self.state));
        let all = tiles.pixels.into_iter().map(tile).collect();
        Ok(Picture { rows: tiles.rows, columns: tiles.columns, is_sound: false, tiles: all })
    }

    fn prompt(
        &self,
        tokenizer: &dyn Text,
        text: &str,
        begins: bool,
        pictures: &[Arc<Picture>],
    ) -> Result<Prompt, Error> {
        let names = (self.mark(), self.facts.image.as_str(), self.facts.token);
        let wordings = pictures.iter().map(|picture| self.text(picture));
        Prompt::with_tiles(tokenizer, text, begins, names, pictures, wordings)
    }
}

#[cfg(test)]
mod tests {
    use et_llm::{Conversation, is_image};
    use et_module::preprocess::TileSteps;

    use super::*;
    use crate::facts::tests::facts;

    /// Tokens are characters, and `<image>` is the token 9.
    struct Characters;

    impl Text for Characters {
        fn encode(&self, text: &str, _begins: bool) -> Result<Vec<u32>, Error> {
            Ok(text.replace("<image>", "\t").chars().map(u32::from).collect())
        }

        fn decode(&self, _tokens: &[u32]) -> Result<String, Error> {
            Ok(String::new())
        }

        fn render(&self, _conversation: &Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    /// A file is the number of rows, and the first byte of each tile.
    fn read(media: Media<'_>, _steps: &TileSteps) -> Result<Tiles, String> {
        let Media::File(file) = media else { return Err("no file".to_owned()) };
        let (rows, tiles) = file.split_first().ok_or("empty")?;
        let rows = usize::from(*rows);
        let pixels = tiles.iter().map(|first| [[*first; 4], [0; 4], [1; 4]].as_flattened().to_vec()).collect();
        Ok(Tiles { size: [2, 2], rows, columns: if rows > 0 { 2 } else { 0 }, pixels })
    }

    fn view() -> View {
        View::new(facts(), read)
    }

    fn prompt(view: &View, text: &str, files: &[&[u8]]) -> Result<Prompt, Error> {
        let pictures: Vec<Arc<Picture>> =
            files.iter().map(|file| Arc::new(view.picture(Media::File(file)).unwrap())).collect();
        view.prompt(&Characters, text, true, &pictures)
    }

    #[test]
    fn a_picture_becomes_image_tokens_within_its_text() {
        let view = view();
        let found = prompt(&view, "a<image>b", &[&[0, 7]]).unwrap();
        let text: String = found
            .tokens
            .iter()
            .map(|token| if is_image(*token) { '*' } else { char::from_u32(*token).unwrap() })
            .collect();
        assert_eq!((text.as_str(), found.tiles.len()), ("a<fake><global-img>***<fake>b", 1));
        let images: Vec<u32> = found.tokens.into_iter().filter(|token| is_image(*token)).collect();
        assert_eq!(images, found.tiles[0].tokens());
    }

    #[test]
    fn a_grid_names_rows_and_columns() {
        let view = view();
        let picture = view.picture(Media::File(&[1, 4, 5, 6])).unwrap();
        let expected = "<fake><row_1_col_1><image><image><image><fake><row_1_col_2><image><image><image>\n\n\
             <fake><global-img><image><image><image><fake>";
        assert_eq!(view.text(&picture), expected);
    }

    #[test]
    fn equal_tiles_have_equal_tokens_and_others_have_others() {
        let view = view();
        let tokens = |first| view.picture(Media::File(&[0, first])).unwrap().tiles[0].tokens().to_vec();
        assert_eq!(tokens(1), tokens(1));
        assert!(tokens(1).iter().zip(tokens(2)).all(|(one, other)| *one != other));
    }

    #[test]
    fn marks_and_pictures_have_to_agree() {
        let view = view();
        assert!(matches!(prompt(&view, "a", &[&[0, 7]]), Err(Error::Marks { found: 0, pictures: 1, .. })));
        assert_eq!(prompt(&view, "a<image>", &[]).unwrap().tokens, [97, 9]);
        assert!(view.picture(Media::File(&[])).is_err());
    }
}
