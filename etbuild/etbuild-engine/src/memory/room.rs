//! What would fit, where a program does not fit a board.

use etbuild_target::Catalogue;
use etbuild_yaml::ByteSize;

/// The most boards that a hint names.
const NAMED: usize = 3;

/// The memory that a program takes.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Bytes of read-only data: the program file, and what else lies beside it.
    pub constants: u64,
    /// Bytes of planned tensors.
    pub tensors: u64,
}

/// The hint: int8, and the smallest boards with enough memory.
pub fn what_fits(need: Need, saved_by_int8: u64) -> String {
    let Need { constants, tensors } = need;
    let int8 = in_int8(constants.max(tensors), saved_by_int8);
    let catalogue = Catalogue::shipped().unwrap_or_default();
    let boards: Vec<String> = catalogue
        .boards_with_room(constants, tensors)
        .into_iter()
        .take(NAMED)
        .map(|board| format!("`{}`", board.name()))
        .collect();
    let boards = match boards.is_empty() {
        true => "make the model smaller: no board that etbuild knows has more memory".to_owned(),
        false => format!("choose a target with more memory, such as {}", boards.join(", ")),
    };
    int8.into_iter().chain([boards]).collect::<Vec<_>>().join("; or ")
}

/// The hint to quantize, where that saves a quarter of the bytes or more.
pub fn in_int8(bytes: u64, saved: u64) -> Option<String> {
    let left = ByteSize(rounded(bytes.saturating_sub(saved)));
    let hint = || format!("quantize the model, `--quantize int8 --calibrate FILE`: about {left}");
    (saved > 0 && saved >= bytes / 4).then(hint)
}

/// To whole KiB from 10 KiB on: an estimate is not known to the byte.
fn rounded(bytes: u64) -> u64 {
    const KIB: u64 = 1024;
    if bytes < 10 * KIB { bytes } else { bytes.div_ceil(KIB) * KIB }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_boards_with_room_come_first_and_int8_where_it_helps() {
        let hint = what_fits(Need { constants: 0, tensors: 200 << 10 }, 150 << 10);
        let boards = hint.strip_prefix("quantize the model, `--quantize int8 --calibrate FILE`: about 50 KiB; or choose a target with more memory, such as ");
        let boards: Vec<&str> = boards.unwrap_or_else(|| panic!("{hint}")).split(", ").collect();
        let room = |name: &str| {
            Catalogue::shipped().unwrap().get(name.trim_matches('`')).unwrap().memory().unwrap().room_for_tensors()
        };
        let rooms: Vec<u64> = boards.into_iter().map(room).collect();
        assert!(rooms.is_sorted() && rooms[0] >= 200 << 10, "{rooms:?}");
        assert!(what_fits(Need { constants: 0, tensors: 200 << 10 }, 1 << 10).starts_with("choose a target"));
        assert!(what_fits(Need { constants: 1 << 40, tensors: 0 }, 0).starts_with("make the model smaller"));
    }
}
