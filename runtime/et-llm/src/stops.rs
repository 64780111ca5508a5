//! Stop texts.

/// Looks for stop texts in a text that comes in pieces: keeps back an end that may become a stop text.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    stops: Vec<String>,
    kept: String,
}

/// The result of a piece of text.
#[derive(Debug, PartialEq, Eq)]
pub struct Certain {
    /// The text before a stop text, or the text that cannot become part of a stop text.
    pub text: String,
    /// Whether a stop text was found.
    pub is_stopped: bool,
    /// The text behind the stop text, if any.
    pub rest: String,
}

impl Stops {
    /// Looks for these texts, except empty texts.
    pub fn new(mut stops: Vec<String>) -> Self {
        stops.retain(|stop| !stop.is_empty());
        Self { stops, kept: String::new() }
    }

    /// A further piece.
    pub fn push(&mut self, piece: &str) -> Certain {
        self.kept.push_str(piece);
        let found = self.stops.iter().filter_map(|stop| Some((self.kept.find(stop.as_str())?, stop.len())));
        if let Some((start, length)) = found.min_by_key(|(start, length)| (*start, std::cmp::Reverse(*length))) {
            let rest = self.kept.split_off(start + length);
            self.kept.truncate(start);
            return Certain { text: std::mem::take(&mut self.kept), is_stopped: true, rest };
        }
        let rest = self.kept.split_off(self.kept.len() - self.open());
        Certain { text: std::mem::replace(&mut self.kept, rest), is_stopped: false, rest: String::new() }
    }

    /// The text that was kept back, at the end of the answer.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.kept)
    }

    /// The bytes at the end of the text that may begin a stop text.
    fn open(&self) -> usize {
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0).saturating_sub(1);
        let first = self.kept.len().saturating_sub(longest);
        let ends = self.kept.char_indices().map(|(index, _)| index).filter(|index| *index >= first);
        let open = ends.map(|index| &self.kept[index..]);
        let mut open = open.filter(|end| self.stops.iter().any(|stop| stop.starts_with(end)));
        open.next().map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts after each piece and after the end; whether a stop text was found.
    fn pieces(stops: &[&str], pieces: &[&str]) -> (Vec<String>, bool) {
        let mut search = Stops::new(stops.iter().map(ToString::to_string).collect());
        let mut texts = Vec::new();
        for piece in pieces {
            let Certain { text, is_stopped, .. } = search.push(piece);
            texts.push(text);
            if is_stopped {
                return (texts, true);
            }
        }
        texts.push(search.finish());
        (texts, false)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_stop_text_in_several_pieces_is_cut_away() {
        assert_eq!(pieces(&["END"], &["a E", "N", "D b"]), (texts(&["a ", "", ""]), true));
        assert_eq!(pieces(&["END", " E"], &["a E", "ND"]), (texts(&["a"]), true));
    }

    #[test]
    fn what_only_begins_like_a_stop_text_comes_late() {
        assert_eq!(pieces(&["END"], &["a E", "Nd"]), (texts(&["a ", "ENd", ""]), false));
        assert_eq!(pieces(&["aab"], &["aa", "a", "b"]), (texts(&["", "a", ""]), true));
        assert_eq!(pieces(&["END"], &["EN"]), (texts(&["", "EN"]), false));
    }

    #[test]
    fn characters_stay_whole() {
        assert_eq!(pieces(&["é🦊"], &["aé", "é", "🦊"]), (texts(&["a", "é", ""]), true));
        assert_eq!(pieces(&["", "🦊"], &["é", "ü"]), (texts(&["é", "ü", ""]), false));
    }
}
