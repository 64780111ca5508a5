//! Values by name.

use std::ops::Index;

/// Values in the order of their names.
///
/// A method has few inputs and outputs, so that a sorted vector serves them. It replaces `BTreeMap`, whose instances for each type of
/// value took a quarter of the time to compile this crate, which every first link of a program pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    /// No values.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Values in any order.
    ///
    /// # Errors
    /// A name that occurs twice.
    pub fn of_entries(mut entries: Vec<(String, T)>) -> Result<Self, String> {
        entries.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[0].0.clone()),
            None => Ok(Self(entries)),
        }
    }

    /// Adds a value; returns the value that had the name before.
    pub fn insert(&mut self, name: String, value: T) -> Option<T> {
        match self.place(&name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (name, value));
                None
            }
        }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.place(name).ok().map(|place| &self.0[place].1)
    }

    /// The value of a name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.place(name).ok().map(|place| &mut self.0[place].1)
    }

    /// Takes the value of a name out.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        self.place(name).ok().map(|place| self.0.remove(place).1)
    }

    /// The names in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values in the order of the names.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The names and values in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (String, T)> {
        self.0.iter()
    }

    /// The number of values.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of a name, or the place where the name belongs.
    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The last value of a name counts.
impl<T, const N: usize> From<[(String, T); N]> for Named<T> {
    fn from(entries: [(String, T); N]) -> Self {
        entries.into_iter().collect()
    }
}

/// The last value of a name counts.
impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Self {
        let mut named = Self::new();
        for (name, value) in entries {
            named.insert(name, value);
        }
        named
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Named<T> {
    type Item = &'a (String, T);
    type IntoIter = std::slice::Iter<'a, (String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Index<&str> for Named<T> {
    type Output = T;

    fn index(&self, name: &str) -> &T {
        let missing = || panic!("no value has the name `{name}`");
        self.get(name).unwrap_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_the_order_of_their_names() {
        let named = Named::from([("b".to_owned(), 1), ("a".to_owned(), 2), ("b".to_owned(), 3)]);
        assert_eq!(named.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((named["a"], named.get("b"), named.get("c")), (2, Some(&3), None));
    }

    #[test]
    fn entries_of_a_file_have_different_names() {
        let entries = |names: [&str; 3]| names.map(|name| (name.to_owned(), ())).to_vec();
        assert_eq!(Named::of_entries(entries(["c", "a", "b"])).unwrap().keys().cloned().collect::<String>(), "abc");
        assert_eq!(Named::of_entries(entries(["b", "a", "b"])), Err("b".to_owned()));
    }
}
