//! The listener of firmware.

#[cfg(not(feature = "hooks"))]
use core::marker::PhantomData;

use et_core::Result;

use crate::{Events, Hooked, Position};

/// Calls the hooks of a firmware, if any. A type without parameters, so that backends compile their kernels once and by their own
/// profile; without the feature `hooks`, a listener has no size, and its calls no code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listener<'a> {
    #[cfg(feature = "hooks")]
    hooked: Option<&'a Hooked>,
    #[cfg(not(feature = "hooks"))]
    hooked: PhantomData<&'a Hooked>,
}

impl<'a> Listener<'a> {
    /// Calls nothing.
    pub const SILENT: Self = Self {
        #[cfg(feature = "hooks")]
        hooked: None,
        #[cfg(not(feature = "hooks"))]
        hooked: PhantomData,
    };

    /// Calls hooks.
    #[cfg(feature = "hooks")]
    pub const fn of(hooked: &'a Hooked) -> Self {
        Self { hooked: Some(hooked) }
    }

    /// The hooks.
    #[inline]
    pub const fn hooked(self) -> Option<&'a Hooked> {
        #[cfg(feature = "hooks")]
        return self.hooked;
        #[cfg(not(feature = "hooks"))]
        None
    }
}

impl Events for Listener<'_> {
    #[inline]
    fn begin(&mut self, at: Position) {
        if let Some(mut hooked) = self.hooked() {
            hooked.begin(at);
        }
    }

    #[inline]
    fn end(&mut self, at: Position) -> Result<()> {
        self.hooked().map_or(Ok(()), |mut hooked| hooked.end(at))
    }

    #[inline]
    fn part(&mut self, part: u32) {
        if let Some(mut hooked) = self.hooked() {
            hooked.part(part);
        }
    }

    #[inline]
    fn is_listening(&self) -> bool {
        self.hooked().is_some_and(|hooked| hooked.is_listening())
    }

    #[inline]
    fn pulse(&mut self) {
        if let Some(mut hooked) = self.hooked() {
            hooked.pulse();
        }
    }
}
