//! Reading a report.
//!
//! Guarantees: no input makes it panic or allocate more than in proportion to the file's size; errors name
//! the member and the byte. Rows are read on demand. Not offered: evaluation of derived metrics, Cube 3
//! files.

use std::path::{Path, PathBuf};

use crate::container::{Archive, Member};
use crate::data::{self, Blob, Values};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::index::{self, ByteOrder, Index};
use crate::severities::Severities;
use crate::{CnodeId, Cube, DataType, Metric, MetricId, anchor};

/// An open report.
#[derive(Debug)]
pub struct Report {
    path: PathBuf,
    archive: Archive,
    cube: Cube,
    metric_numbers: Vec<u64>,
}

impl Report {
    /// Opens a report and reads its description.
    ///
    /// Numbers of metrics and call paths are kept if they are dense, parents precede children and siblings
    /// are sorted, as in files of common tools; otherwise positions are in document order. Regions
    /// and locations are sorted by number.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a report.
    pub fn open(path: impl AsRef<Path>) -> Result<Report> {
        let path = path.as_ref();
        Report::load(path).map_err(|error| error.in_file(path))
    }

    fn load(path: &Path) -> Result<Report> {
        let archive = Archive::open(path)?;
        let Some(member) = archive.member("anchor.xml") else {
            return Err(Error::invalid("not a report: there is no member anchor.xml"));
        };
        let anchor = archive.read_all(member).and_then(|text| anchor::read(&text));
        let anchor = anchor.map_err(|error| error.in_member("anchor.xml"))?;
        let path = path.to_path_buf();
        Ok(Report { path, archive, cube: anchor.cube, metric_numbers: anchor.metric_numbers })
    }

    /// The description of the report.
    #[must_use]
    pub fn cube(&self) -> &Cube {
        &self.cube
    }

    /// Changes the description of this report in memory, such as names. Values refer to positions in it.
    ///
    /// # Panics
    ///
    /// If the number of metrics, call paths or locations changes.
    pub fn describe(&mut self, change: impl FnOnce(&mut Cube)) {
        let counts = |cube: &Cube| (cube.metrics.len(), cube.cnodes.len(), cube.locations.len());
        let before = counts(&self.cube);
        change(&mut self.cube);
        assert_eq!(counts(&self.cube), before, "numbers of metrics, call paths and locations stay");
    }

    /// Names of all members, including the report's own, sorted.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.archive.names()
    }

    /// Reads the contents of a member; `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn member(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let member = self.archive.member(name);
        let contents = member.map(|member| self.archive.read_all(member)).transpose();
        contents.map_err(|error| error.in_member(name).in_file(&self.path))
    }

    /// Opens the rows of a metric. A metric without stored data, such as a derived one, has none.
    ///
    /// # Errors
    ///
    /// If the metric does not exist, or its members are inconsistent with themselves or the description.
    pub fn rows(&self, metric: MetricId) -> Result<RowReader<'_>> {
        self.open_rows(metric).map_err(|error| error.in_file(&self.path))
    }

    /// Loads all values of a metric as floats, with their sums along the call tree.
    ///
    /// # Errors
    ///
    /// As for [`rows`](Report::rows), and if the metric is a derived one or its elements are not plain
    /// numbers.
    pub fn severities(&self, metric: MetricId) -> Result<Severities> {
        Severities::load(self, metric).map_err(|error| error.in_file(&self.path))
    }

    /// The description of a metric, and its number in the file.
    pub(crate) fn metric(&self, metric: MetricId) -> Result<(&Metric, u64)> {
        match (self.cube.metrics.get(metric.0), self.metric_numbers.get(metric.0)) {
            (Some(description), Some(&number)) => Ok((description, number)),
            _ => Err(Error::invalid(format!("metric {} does not exist", metric.0))),
        }
    }

    fn open_rows(&self, metric: MetricId) -> Result<RowReader<'_>> {
        let (description, number) = self.metric(metric)?;
        let ghost = if description.ghost { "ghost_" } else { "" };
        let index_name = format!("{ghost}{number}.index");
        let name = format!("{ghost}{number}.data");
        let data_type = &description.data_type;
        let mut reader = RowReader {
            report: self,
            name,
            data_type,
            byte_order: ByteOrder::Little,
            row_size: 0,
            cnodes: Vec::new(),
            places: RowStorage::Plain(Member::default()),
            next: 0,
        };
        let Some(index) = self.archive.member(&index_name) else { return Ok(reader) };
        let index =
            self.archive.read_all(index).and_then(|bytes| index::decode(&bytes, self.cube.cnodes.len()));
        let Index { byte_order, positions } = index.map_err(|error| error.in_member(&index_name))?;
        if positions.is_empty() {
            return Ok(reader);
        }
        let order = Forest::of_cnodes(&self.cube).row_order(description.kind);
        let cnode = |position: &u32| order.get(*position as usize).copied();
        reader.cnodes = positions.iter().filter_map(cnode).collect();
        reader.byte_order = byte_order;
        reader.open_data().map_err(|error| error.in_member(&reader.name))?;
        Ok(reader)
    }
}

/// Reader of the rows of one metric, which are read on demand.
#[derive(Debug)]
pub struct RowReader<'r> {
    report: &'r Report,
    /// Name of the member with the rows.
    name: String,
    data_type: &'r DataType,
    byte_order: ByteOrder,
    row_size: u64,
    cnodes: Vec<CnodeId>,
    places: RowStorage,
    next: usize,
}

/// Storage of the rows.
#[derive(Debug)]
enum RowStorage {
    /// Contiguous.
    Plain(Member),
    /// Compressed one by one.
    Compressed(Member, Vec<Blob>),
}

impl RowReader<'_> {
    /// The call paths that have a row, in file order. All others have the [neutral](DataType::neutral) value.
    #[must_use]
    pub fn cnodes(&self) -> &[CnodeId] {
        &self.cnodes
    }

    /// Returns the next row and its call path; `None` after the last one.
    ///
    /// # Errors
    ///
    /// If the row cannot be read; there are no further rows then.
    #[expect(clippy::should_implement_trait, reason = "a cursor that can fail, not an iterator")]
    pub fn next(&mut self) -> Result<Option<(CnodeId, Values)>> {
        let Some(cnode) = self.cnodes.get(self.next).copied() else { return Ok(None) };
        let row = self.row(self.next);
        self.next = if row.is_ok() { self.next + 1 } else { self.cnodes.len() };
        row.map(|values| Some((cnode, values)))
    }

    /// The `n`-th row, whose call path is the `n`-th of [`cnodes`](RowReader::cnodes).
    ///
    /// # Errors
    ///
    /// If there are fewer rows, or the row cannot be read.
    pub fn row(&self, n: usize) -> Result<Values> {
        let bytes = self.bytes(n).map_err(|error| error.in_member(&self.name).in_file(&self.report.path))?;
        Ok(data::decode(&bytes, self.data_type, self.byte_order))
    }

    fn bytes(&self, n: usize) -> Result<Vec<u8>> {
        if n >= self.cnodes.len() {
            return Err(Error::invalid(format!("row {n} does not exist; there are {}", self.cnodes.len())));
        }
        match &self.places {
            RowStorage::Plain(member) => {
                let offset = data::MARK.len() as u64 + n as u64 * self.row_size;
                self.report.archive.read(*member, offset, self.row_size)
            }
            RowStorage::Compressed(member, blobs) => {
                let Some(Blob { offset, size }) = blobs.get(n).copied() else { return Ok(Vec::new()) };
                let bytes = self.report.archive.read(*member, offset, size)?;
                data::inflate(&bytes, self.row_size).map_err(|error| error.at(offset))
            }
        }
    }

    /// Locates the rows, and checks that the member is large enough for them.
    fn open_data(&mut self) -> Result<()> {
        let (archive, rows) = (&self.report.archive, self.cnodes.len() as u64);
        let Some(member) = archive.member(&self.name) else {
            return Err(Error::invalid(format!("does not exist, but the index lists {rows} rows")));
        };
        let Some(element_size) = self.data_type.size() else {
            return Err(Error::invalid(format!("unknown data type {:?}", self.data_type.to_string())));
        };
        let locations = self.report.cube.locations.len() as u64;
        let sizes = element_size.checked_mul(locations).and_then(|row| Some((row, row.checked_mul(rows)?)));
        let Some((row_size, rows_size)) = sizes else {
            return Err(Error::invalid("rows are larger than any file"));
        };
        self.row_size = row_size;
        let start = archive.read(member, 0, member.size.min(data::TABLE_START))?;
        if start.starts_with(data::MARK) {
            let (found, expected) = (member.size - data::MARK.len() as u64, rows_size);
            if found < expected {
                let message = format!("{found} bytes of rows, expected {expected}");
                return Err(Error::invalid(message).at(data::MARK.len() as u64));
            }
            self.places = RowStorage::Plain(member);
            return Ok(());
        }
        if !start.starts_with(data::COMPRESSED_MARK) {
            return Err(Error::invalid("starts with neither CUBEX.DATA nor ZCUBEX.DATA").at(0));
        }
        let table = archive.read(member, data::TABLE_START, rows * data::ENTRY_SIZE as u64)?;
        let blobs = data::blobs(&table, self.byte_order, row_size, member.size)?;
        self.places = RowStorage::Compressed(member, blobs);
        Ok(())
    }
}
