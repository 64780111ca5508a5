//! Tells a listener of each row of an image that a layer has computed.

use et_runtime::{Events, Listener};

use crate::Window;

/// The rows of an output image.
pub struct Rows<'l, 'h> {
    listener: &'l mut Listener<'h>,
    /// Pixels of a row.
    width: usize,
    /// Pixels of the row that are missing.
    left: usize,
}

impl<'l, 'h> Rows<'l, 'h> {
    /// The rows of a layer, none of which is computed.
    pub fn of(window: &Window, listener: &'l mut Listener<'h>) -> Self {
        let width = (window.out_width as usize).max(1);
        Self { listener, width, left: width }
    }

    /// The most pixels to compute at once.
    pub fn most(&self) -> usize {
        if self.listener.is_listening() { self.width } else { usize::MAX }
    }

    /// Counts computed pixels.
    pub fn computed(&mut self, pixels: usize) {
        self.left = self.left.saturating_sub(pixels);
        if self.left == 0 {
            self.left = self.width;
            self.listener.pulse();
        }
    }
}
