//! The root table of a program file, and its data tables.

use et_core::{Longs, Result};

use crate::view::views;
use crate::{ExecutionPlan, List, Table, View};

views! {
    /// The root table.
    Program;
    /// A constant inside the flatbuffer: how files were written before segments.
    Buffer;
    /// A delegate's blob inside the flatbuffer.
    InlineData;
    /// Where a segment lies.
    DataSegment;
    /// The parts of a segment.
    SubsegmentOffsets;
    /// A segment with a name.
    NamedData;
}

impl<'a> Program<'a> {
    /// The version of the schema: 0.
    pub fn version(self) -> Result<u32> {
        self.0.u32(0)
    }

    /// The methods.
    pub fn execution_plans(self) -> Result<List<'a, ExecutionPlan<'a>>> {
        self.0.tables(1).map(List::new)
    }

    /// Method `index`.
    pub fn execution_plan(self, index: usize) -> Result<ExecutionPlan<'a>> {
        self.0.element(1, index).map(ExecutionPlan::of)
    }

    /// Constant `index` inside the flatbuffer.
    pub fn constant_buffer(self, index: usize) -> Result<Buffer<'a>> {
        self.0.element(2, index).map(Buffer)
    }

    /// Blob `index` inside the flatbuffer.
    pub fn inline_data(self, index: usize) -> Result<InlineData<'a>> {
        self.0.element(3, index).map(InlineData)
    }

    /// Segment `index` behind the flatbuffer.
    pub fn segment(self, index: usize) -> Result<DataSegment<'a>> {
        self.0.element(4, index).map(DataSegment)
    }

    /// List `index` of initial values.
    pub fn mutable_data_segment(self, index: usize) -> Result<SubsegmentOffsets<'a>> {
        self.0.element(6, index).map(SubsegmentOffsets)
    }

    /// Constants inside the flatbuffer; empty for files with a constant segment.
    pub fn constant_buffers(self) -> Result<List<'a, Buffer<'a>>> {
        self.0.tables(2).map(List::new)
    }

    /// Delegates' blobs inside the flatbuffer.
    pub fn backend_delegate_data(self) -> Result<List<'a, InlineData<'a>>> {
        self.0.tables(3).map(List::new)
    }

    /// The segments behind the flatbuffer.
    pub fn segments(self) -> Result<List<'a, DataSegment<'a>>> {
        self.0.tables(4).map(List::new)
    }

    /// Where constants start in their segment.
    pub fn constant_segment(self) -> Result<Option<SubsegmentOffsets<'a>>> {
        self.0.table(5).map(|table| table.map(SubsegmentOffsets))
    }

    /// Where the initial values of mutable buffers start in their segments.
    pub fn mutable_data_segments(self) -> Result<List<'a, SubsegmentOffsets<'a>>> {
        self.0.tables(6).map(List::new)
    }

    /// Segments with names.
    pub fn named_data(self) -> Result<List<'a, NamedData<'a>>> {
        self.0.tables(7).map(List::new)
    }
}

impl<'a> Buffer<'a> {
    /// The bytes.
    pub fn storage(self) -> Result<&'a [u8]> {
        self.0.vector(0, 1)
    }
}

impl<'a> InlineData<'a> {
    /// The bytes.
    pub fn data(self) -> Result<&'a [u8]> {
        self.0.vector(0, 1)
    }
}

impl DataSegment<'_> {
    /// Bytes from the first segment's start, which the extended header gives.
    pub fn offset(self) -> Result<u64> {
        self.0.u64(0)
    }

    /// The number of bytes.
    pub fn size(self) -> Result<u64> {
        self.0.u64(1)
    }
}

impl<'a> SubsegmentOffsets<'a> {
    /// The segment.
    pub fn segment_index(self) -> Result<u32> {
        self.0.u32(0)
    }

    /// Where each part starts, in bytes from the segment's start.
    pub fn offsets(self) -> Result<Longs<'a>> {
        self.0.vector(1, 8).map(Longs::new)
    }
}

impl<'a> NamedData<'a> {
    /// The name.
    pub fn key(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The segment.
    pub fn segment_index(self) -> Result<u32> {
        self.0.u32(1)
    }
}

impl<'a> Program<'a> {
    /// A program without contents.
    pub(crate) const EMPTY: Self = Self(Table::EMPTY);

    /// Reads the root of a flatbuffer.
    pub(crate) fn root(flatbuffer: &'a [u8]) -> Result<Self> {
        Table::root(flatbuffer).map(Self)
    }
}
