//! What happens in a run: recorded events, their names, and the forms in which people and tools read the events.

mod align;
mod drift;
mod etdump;
mod etrecord;
mod labels;
mod perfetto;
mod profile;
mod values;

pub use align::aligned;
pub use drift::Drift;
pub use etdump::etdump;
pub use etrecord::{GivenInputs, etrecord};
pub use perfetto::perfetto;
pub use profile::{MethodProfile, Names, Profile, Row};
pub use values::{add_outputs, add_quantized, computed, named_values};
