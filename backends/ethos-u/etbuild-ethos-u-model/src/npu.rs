//! The kinds of NPU.

/// A series of NPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// Ethos-U55.
    U55,
    /// Ethos-U65: one or two cores, which share the output channels.
    U65,
    /// Ethos-U85.
    U85,
}

/// An NPU, by the value of its configuration register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Npu {
    /// The series.
    pub series: Series,
    /// Multiplications per cycle.
    pub multiplications: usize,
    /// Bytes of the memory inside a core of U55 or U65, whose end has the tables.
    shared: usize,
}

/// The bytes of all tables.
pub const TABLES: usize = 2048;

impl Npu {
    /// The NPU of a configuration register; `None` for another product or a size that no NPU has.
    pub fn of(config: u32) -> Option<Self> {
        let series = *[Series::U55, Series::U65, Series::U85].get((config >> 28) as usize)?;
        let multiplications = 1 << (config & 0xf);
        let shared = ((config >> 8 & 0xff) as usize) << 10;
        let npu = Self { series, multiplications, shared };
        let shared = shared / npu.cores();
        npu.sizes().contains(&multiplications).then_some(Self { shared, ..npu })
    }

    fn sizes(self) -> &'static [usize] {
        match self.series {
            Series::U55 => &[32, 64, 128, 256],
            Series::U65 => &[256, 512],
            Series::U85 => &[128, 256, 512, 1024, 2048],
        }
    }

    /// The streams of weights that are decoded side by side.
    pub const fn cores(self) -> usize {
        match (self.series, self.multiplications) {
            (Series::U55, _) | (Series::U65, 256) | (Series::U85, 128 | 256) => 1,
            (Series::U65, _) | (Series::U85, 512) => 2,
            (Series::U85, _) => 4,
        }
    }

    /// The output channels that a core of U55 or U65 computes at a time.
    pub const fn micro_depth(self) -> usize {
        if self.multiplications == 32 { 4 } else { 8 }
    }

    /// Whether the NPU has the registers of U85.
    pub fn is_u85(self) -> bool {
        self.series == Series::U85
    }

    /// The address of the first table in the memory inside the NPU.
    pub fn tables(self) -> usize {
        if self.is_u85() { 0 } else { self.shared.saturating_sub(TABLES) }
    }

    /// The bytes of the memory inside the NPU that DMA can reach.
    pub fn internal(self) -> usize {
        self.tables() + TABLES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_series_size_and_memory() {
        let npu = Npu::of(0x1807).unwrap();
        assert_eq!((npu.series, npu.multiplications, npu.cores(), npu.tables()), (Series::U55, 128, 1, 0x5800));
        let npu = Npu::of(0x1000_6009).unwrap();
        assert_eq!((npu.series, npu.multiplications, npu.cores(), npu.tables()), (Series::U65, 512, 2, 0xb800));
        let npu = Npu::of(0x2000_0008).unwrap();
        assert_eq!((npu.series, npu.multiplications, npu.cores(), npu.tables()), (Series::U85, 256, 1, 0));
        assert_eq!((Npu::of(0x3000_0008), Npu::of(0x1801)), (None, None));
    }
}
