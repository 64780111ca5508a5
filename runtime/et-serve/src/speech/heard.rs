//! The text of a transcript as it is heard.

use et_llm::Heard;

/// The text so far. The pieces together are the text of the transcript without spaces around.
#[derive(Default)]
pub struct HeardText {
    /// Whether the text comes token by token; by segments otherwise.
    has_tokens: bool,
    has_begun: bool,
    /// Spaces that are text where further text follows.
    spaces: String,
}

impl HeardText {
    /// The further text in a piece of a transcript, which may be empty.
    pub fn push(&mut self, heard: Heard<'_>) -> String {
        match heard {
            Heard::Text(text) => {
                self.has_tokens = true;
                self.further(text)
            }
            Heard::Segment(segment) if !self.has_tokens => self.further(&segment.text),
            Heard::Segment(_) | Heard::Token(..) => String::new(),
        }
    }

    fn further(&mut self, text: &str) -> String {
        let text = std::mem::take(&mut self.spaces) + text;
        let text = if self.has_begun { text.as_str() } else { text.trim_start() };
        let (told, spaces) = text.split_at(text.trim_end().len());
        self.has_begun |= !told.is_empty();
        spaces.clone_into(&mut self.spaces);
        told.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use et_llm::Segment;

    use super::*;

    #[test]
    fn pieces_together_are_the_text_without_spaces_around() {
        let mut text = HeardText::default();
        let told = [" ", " A", " b ", " c", "", "\n"].map(|piece| text.push(Heard::Text(piece)));
        assert_eq!(told, ["", "A", " b", "  c", "", ""]);
    }

    #[test]
    fn segments_are_told_where_no_tokens_are() {
        let segment = Segment { text: " A b.".to_owned(), ..Segment::default() };
        let mut text = HeardText::default();
        assert_eq!(
            [Heard::Segment(&segment), Heard::Segment(&segment)].map(|heard| text.push(heard)),
            ["A b.", " A b."]
        );
        let mut text = HeardText::default();
        assert_eq!([Heard::Text(" A"), Heard::Segment(&segment)].map(|heard| text.push(heard)), ["A", ""]);
    }
}
