//! Writing a report: row by row, or values of all metrics in any order.
//!
//! Guarantees: under the final name there is a complete report, or the earlier file unchanged. The bytes
//! depend on the arguments only. Memory use does not grow with the number of rows. Not offered: compression
//! (CubeLib is often built without it), appending to a report.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::container::{ArchiveWriter, archive, has_ambiguous_padding};
use crate::data::{MARK, WireNumber};
use crate::error::{Error, Result};
use crate::forest::Forest;
use crate::temporary::{Stored, Temporary, put_in_place};
use crate::{Attribute, CnodeId, Cube, DataType, MetricId, MetricKind, anchor, check, index};

/// A report under construction.
///
/// The data goes to a temporary file beside the final one, without a name if the file system supports that.
/// It is published by [`finish`](Writer::finish). A writer that is dropped before removes the temporary file
/// and leaves an existing report as it was; so does the end of the process, except by a signal: see
/// [`remove_temporaries`](crate::remove_temporaries).
#[derive(Debug)]
pub struct Writer {
    cube: Cube,
    /// Position of each call path in deep and in wide order.
    deep: Vec<u32>,
    wide: Vec<u32>,
    members: HashSet<String>,
    written: HashSet<MetricId>,
    /// The metric whose rows are being written.
    unfinished: Option<MetricId>,
    /// The metrics whose values are written in any order.
    rooms: BTreeMap<MetricId, ReservedRows>,
    archive: ArchiveWriter<BufWriter<File>>,
    temporary: Temporary,
    companions: Vec<Companion>,
    path: PathBuf,
}

/// Space reserved in the file for the values of a metric.
#[derive(Debug)]
struct ReservedRows {
    /// Offset in the file.
    offset: u64,
    values: u64,
    /// Number of values not yet written.
    missing: u64,
}

/// A file published together with the report.
#[derive(Debug)]
struct Companion {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Writer {
    /// Starts a report with this description. The name must end in `.cubex`, otherwise Cube tools do not find
    /// it.
    ///
    /// # Errors
    ///
    /// If the description breaks a rule of the format: a parent behind its child, several roots of the call
    /// tree or of the system tree, a process without threads, a dangling reference, ...; or if the file
    /// cannot be created.
    pub fn create(path: impl AsRef<Path>, cube: Cube) -> Result<Writer> {
        let path = path.as_ref();
        Writer::start(path, cube).map_err(|error| error.in_file(path))
    }

    /// Checks that a report can be written there, before the work for it is done.
    ///
    /// # Errors
    ///
    /// If the name does not end in `.cubex`, or a file cannot be created.
    pub fn probe(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        check_name(path).map_err(|error| error.in_file(path))?;
        Writer::probe_file(path)
    }

    /// Checks that a [file besides](Writer::add_file) can be written there, before the work for it is done.
    ///
    /// # Errors
    ///
    /// If a file cannot be created.
    pub fn probe_file(path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        Temporary::beside(path).map(|_| ()).map_err(|error| error.in_file(path))
    }

    fn start(path: &Path, cube: Cube) -> Result<Writer> {
        check_name(path)?;
        check::check(&cube)?;
        let positions = |kind| positions(&Forest::of_cnodes(&cube).row_order(kind));
        let (deep, wide) = (positions(MetricKind::Exclusive)?, positions(MetricKind::Inclusive)?);
        let (temporary, file) = Temporary::beside(path)?;
        Ok(Writer {
            cube,
            deep,
            wide,
            members: HashSet::new(),
            written: HashSet::new(),
            unfinished: None,
            rooms: BTreeMap::new(),
            archive: ArchiveWriter::new(BufWriter::with_capacity(1 << 16, file)),
            temporary,
            companions: Vec::new(),
            path: path.to_path_buf(),
        })
    }

    /// Adds an archive with the report's name but another extension, published together with the report: a tar archive of members,
    /// each with its name and contents, as they could be [added](Writer::add_member) to the report.
    ///
    /// # Errors
    ///
    /// None is known: the archive is made in memory.
    pub fn add_companion_archive(&mut self, extension: &str, members: &[(String, Vec<u8>)]) -> Result<()> {
        let bytes = archive(members).map_err(write_failed)?;
        self.add_companion(extension, bytes);
        Ok(())
    }

    /// Adds an attribute to the report, which is [described](Writer::create) without it.
    pub fn add_attribute(&mut self, attribute: Attribute) {
        self.cube.attributes.push(attribute);
    }

    /// Adds a file with the report's name but another extension, published together with the report.
    pub fn add_companion(&mut self, extension: &str, bytes: Vec<u8>) {
        self.add_file(self.path.with_extension(extension), bytes);
    }

    /// Adds a file of any name, published together with the report.
    pub fn add_file(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.companions.push(Companion { path, bytes });
    }

    /// Adds a member with the caller's text to the report, retrievable by name.
    ///
    /// A newline is appended if the text is empty or its size is a multiple of 512 (see the crate's
    /// `FORMAT.md`).
    ///
    /// # Errors
    ///
    /// If the name is taken, reserved for the report's own members, longer than 99 bytes or not a plain file
    /// name.
    pub fn add_member(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let reserved = name == "anchor.xml" || name.ends_with(".index") || name.ends_with(".data");
        let plain =
            !name.is_empty() && name.len() <= 99 && !name.contains(|c: char| c == '/' || c.is_control());
        let result = if reserved || !plain {
            Err(Error::invalid("not a name for an additional member"))
        } else {
            self.ready().and_then(|()| self.write_member(name, text.to_vec()))
        };
        result.map_err(|error| error.in_member(name).in_file(&self.path))
    }

    /// Returns the order in which rows for these call paths must be pushed for this metric.
    ///
    /// If call paths are numbered in pre-order (every call path directly before its subtree), the order for
    /// exclusive metrics is ascending. For inclusive metrics the siblings come first, then the descendants of
    /// each.
    ///
    /// # Errors
    ///
    /// If the metric or a call path does not exist or a call path is named twice.
    pub fn order(&self, metric: MetricId, cnodes: &[CnodeId]) -> Result<Vec<CnodeId>> {
        let ordered = self.numbered(metric, cnodes).map_err(|error| error.in_file(&self.path))?;
        Ok(ordered.into_iter().map(|(_, cnode)| cnode).collect())
    }

    /// Starts the rows of a metric: `cnodes` are the call paths that have one, in any order. All others count
    /// as zero.
    ///
    /// Metrics may be written in any order, each at most once, and one after the other. A metric without rows
    /// is zero everywhere.
    ///
    /// # Errors
    ///
    /// If rows cannot be stored for this metric (a derived one, or one with an element type other than the
    /// 64-bit numbers), were written already, are too many for the format, or as for
    /// [`order`](Writer::order).
    pub fn metric(&mut self, metric: MetricId, cnodes: &[CnodeId]) -> Result<RowWriter<'_>> {
        match self.begin(metric, cnodes) {
            Ok((order, index)) => {
                Ok(RowWriter { writer: self, metric, order, index, pushed: 0, row: Vec::new() })
            }
            Err(error) => Err(error.in_file(&self.path)),
        }
    }

    /// Reserves space for the rows of a metric, whose values are then [written](Writer::put) in any order:
    /// `cnodes` are the call paths that have a row, in any order. All others count as zero.
    ///
    /// # Errors
    ///
    /// As for [`metric`](Writer::metric).
    pub fn reserve(&mut self, metric: MetricId, cnodes: &[CnodeId]) -> Result<()> {
        let result = self.make_room(metric, cnodes);
        result.map_err(|error| error.in_file(&self.path))
    }

    /// Writes values of a metric into the space reserved for them, encoded as in the file: each value as its
    /// little-endian bytes in the type of the metric. Rows follow each other in the [order](Writer::order) of
    /// the metric, each with a value for every location; `first` is the number of values before these. Each
    /// value must be written once.
    ///
    /// # Errors
    ///
    /// If no space is reserved for these values, or writing fails.
    pub fn put(&mut self, metric: MetricId, first: u64, values: &[[u8; 8]]) -> Result<()> {
        let result = self.put_values(metric, first, values);
        result.map_err(|error| error.in_file(&self.path))
    }

    /// Completes the report and publishes it, together with its companions.
    ///
    /// # Errors
    ///
    /// As for [`complete`](Writer::complete) and [`Complete::put_in_place`].
    pub fn finish(self) -> Result<()> {
        self.complete()?.put_in_place()
    }

    /// Completes the report and its companions and syncs all to disk, but does not publish them yet.
    ///
    /// # Errors
    ///
    /// If a metric was started but not finished, values are missing in reserved space, or if a file cannot
    /// be written. Existing files are then untouched.
    pub fn complete(self) -> Result<Complete> {
        let path = self.path.clone();
        self.store().map_err(|error| error.in_file(&path))
    }

    fn numbered(&self, metric: MetricId, cnodes: &[CnodeId]) -> Result<Vec<(u32, CnodeId)>> {
        let positions = match self.cube.metrics.get(metric.0).map(|metric| metric.kind) {
            Some(MetricKind::Inclusive) => &self.wide,
            Some(MetricKind::Exclusive) => &self.deep,
            Some(_) => {
                return Err(Error::invalid(format!("{}: a derived metric has no rows", self.name(metric))));
            }
            None => return Err(Error::invalid(format!("metric {} does not exist", metric.0))),
        };
        let mut numbered = Vec::with_capacity(cnodes.len());
        for &cnode in cnodes {
            let Some(&position) = positions.get(cnode.0) else {
                let name = self.name(metric);
                return Err(Error::invalid(format!("{name}: cnode {} does not exist", cnode.0)));
            };
            numbered.push((position, cnode));
        }
        numbered.sort_unstable();
        match numbered.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
            Some([(_, cnode), ..]) => {
                Err(Error::invalid(format!("{}: cnode {} is named twice", self.name(metric), cnode.0)))
            }
            _ => Ok(numbered),
        }
    }

    fn begin(
        &mut self,
        metric: MetricId,
        cnodes: &[CnodeId],
    ) -> Result<(Vec<CnodeId>, Option<PendingMember>)> {
        self.ready()?;
        let rows = self.numbered(metric, cnodes)?;
        if self.written.contains(&metric) {
            return Err(Error::invalid(format!("{}: rows were already written", self.name(metric))));
        }
        let Some(description) = self.cube.metrics.get(metric.0) else { return Ok(Default::default()) };
        if !matches!(
            description.data_type,
            DataType::Double | DataType::MinDouble | DataType::MaxDouble | DataType::UInt64 | DataType::Int64
        ) {
            let (name, data_type) = (self.name(metric), &description.data_type);
            return Err(Error::invalid(format!("{name}: rows of type {data_type} cannot be written")));
        }
        let values = rows.len() as u64 * self.cube.locations.len() as u64;
        if values >= u64::from(u32::MAX) {
            let name = self.name(metric);
            return Err(Error::invalid(format!(
                "{name}: {values} values; the format ends below {}",
                u32::MAX
            )));
        }
        let ghost = if description.ghost { "ghost_" } else { "" };
        let (index_name, data_name) =
            (format!("{ghost}{}.index", metric.0), format!("{ghost}{}.data", metric.0));
        let (positions, order): (Vec<u32>, Vec<CnodeId>) = rows.into_iter().unzip();
        // Without rows there are no members: readers disagree on an index without rows.
        let index = if order.is_empty() {
            None
        } else {
            self.archive.begin(&data_name, MARK.len() as u64 + 8 * values).map_err(write_failed)?;
            self.archive.write(MARK).map_err(write_failed)?;
            Some(PendingMember { name: index_name, bytes: index::encode(&positions) })
        };
        self.unfinished = Some(metric);
        self.written.insert(metric);
        Ok((order, index))
    }

    fn make_room(&mut self, metric: MetricId, cnodes: &[CnodeId]) -> Result<()> {
        let (order, index) = self.begin(metric, cnodes)?;
        let values = order.len() as u64 * self.cube.locations.len() as u64;
        if index.is_some() {
            let offset = self.archive.skip(8 * values).map_err(write_failed)?;
            self.rooms.insert(metric, ReservedRows { offset, values, missing: values });
        }
        self.end(index)
    }

    fn put_values(&mut self, metric: MetricId, first: u64, values: &[[u8; 8]]) -> Result<()> {
        let count = values.len() as u64;
        let Some(room) = self.rooms.get_mut(&metric).filter(|room| {
            count <= room.missing && first.checked_add(count).is_some_and(|end| end <= room.values)
        }) else {
            let name = self.name(metric);
            return Err(Error::invalid(format!("{name}: no room for {count} values from value {first} on")));
        };
        room.missing -= count;
        let offset = room.offset + 8 * first;
        self.archive.write_at(offset, values.as_flattened()).map_err(write_failed)
    }

    /// Ends the rows of a metric, and adds their index.
    fn end(&mut self, index: Option<PendingMember>) -> Result<()> {
        if let Some(index) = index {
            self.archive.end().map_err(write_failed)?;
            self.write_member(&index.name, index.bytes)?;
        }
        self.unfinished = None;
        Ok(())
    }

    fn write_member(&mut self, name: &str, mut bytes: Vec<u8>) -> Result<()> {
        if !self.members.insert(name.to_owned()) {
            return Err(Error::invalid("a member of this name exists already"));
        }
        if has_ambiguous_padding(bytes.len() as u64) {
            bytes.push(b'\n');
        }
        self.archive.begin(name, bytes.len() as u64).map_err(write_failed)?;
        self.archive.write(&bytes).map_err(write_failed)?;
        self.archive.end().map_err(write_failed)
    }

    /// Writes the anchor twice, at first to compute its size: its names repeat, so it may not fit into
    /// memory.
    fn write_anchor(&mut self) -> std::io::Result<()> {
        let mut size = ByteCounter(0);
        anchor::write(&self.cube, &mut size)?;
        let padded = has_ambiguous_padding(size.0);
        self.archive.begin("anchor.xml", size.0 + u64::from(padded))?;
        anchor::write(&self.cube, &mut MemberSink(&mut self.archive))?;
        if padded {
            self.archive.write(b"\n")?;
        }
        self.archive.end()
    }

    fn ready(&self) -> Result<()> {
        match self.unfinished {
            Some(metric) => {
                Err(Error::invalid(format!("the rows of {} were not finished", self.name(metric))))
            }
            None => Ok(()),
        }
    }

    fn store(mut self) -> Result<Complete> {
        self.ready()?;
        if let Some((&metric, room)) = self.rooms.iter().find(|(_, room)| room.missing > 0) {
            let (name, ReservedRows { values, missing, .. }) = (self.name(metric), room);
            return Err(Error::invalid(format!("{name}: {missing} of {values} values were not put")));
        }
        self.write_anchor().map_err(write_failed)?;
        let Writer { archive, temporary, companions, .. } = self;
        let out = archive.finish().map_err(write_failed)?;
        let file = out.into_inner().map_err(|error| write_failed(error.into_error()))?;
        // The report comes first: should the process end between the two, a new companion never stands beside
        // an old report.
        let mut files = vec![temporary.store(file)?];
        for companion in companions {
            files.push(companion.store()?);
        }
        Ok(Complete { files })
    }

    fn name(&self, metric: MetricId) -> String {
        let name = self.cube.metrics.get(metric.0).map(|metric| metric.unique_name.as_str());
        format!("metric {}", name.unwrap_or("?"))
    }
}

impl Companion {
    fn store(self) -> Result<Stored> {
        let store = || {
            let (temporary, mut file) = Temporary::beside(&self.path)?;
            file.write_all(&self.bytes).map_err(write_failed)?;
            temporary.store(file)
        };
        store().map_err(|error: Error| error.in_file(&self.path))
    }
}

/// A report and its companions, synced to disk but not published, and removed if this is dropped.
#[must_use = "nobody can see the report before it is in place"]
#[derive(Debug)]
pub struct Complete {
    files: Vec<Stored>,
}

impl Complete {
    /// Publishes the report and its companions: all or none of them.
    ///
    /// # Errors
    ///
    /// If the system refuses one of them. The others are then undone and the earlier files restored; they are
    /// lost only where the file system has no hard links.
    pub fn put_in_place(self) -> Result<()> {
        put_in_place(self.files)
    }
}

/// Counts bytes that are written to it.
struct ByteCounter(u64);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Appends to the open member.
struct MemberSink<'a>(&'a mut ArchiveWriter<BufWriter<File>>);

impl Write for MemberSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Refuses a path that Cube tools would not recognize as a report.
fn check_name(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(".cubex").is_none_or(str::is_empty) {
        true => Err(Error::invalid("the name of a report must end in .cubex, which Cube tools insist on")),
        false => Ok(()),
    }
}

/// The inverse of an order: the position of each call path.
fn positions(order: &[CnodeId]) -> Result<Vec<u32>> {
    let mut positions = vec![0; order.len()];
    for (position, cnode) in order.iter().enumerate() {
        let position = u32::try_from(position).map_err(|_| Error::invalid("too many call paths"))?;
        positions.get_mut(cnode.0).into_iter().for_each(|slot| *slot = position);
    }
    Ok(positions)
}

#[cold]
fn write_failed(error: std::io::Error) -> Error {
    Error::io("write", error)
}

/// A member that is written later.
#[derive(Debug)]
struct PendingMember {
    name: String,
    bytes: Vec<u8>,
}

/// Writer of the rows of one metric.
///
/// Must be [finished](RowWriter::finish); otherwise the report cannot be completed.
#[derive(Debug)]
pub struct RowWriter<'w> {
    writer: &'w mut Writer,
    metric: MetricId,
    order: Vec<CnodeId>,
    /// The index, which follows the rows; `None` if there are none.
    index: Option<PendingMember>,
    pushed: usize,
    /// Encoded row; kept to save allocations.
    row: Vec<[u8; 8]>,
}

impl RowWriter<'_> {
    /// The call paths in the order in which their rows must be pushed.
    #[must_use]
    pub fn order(&self) -> &[CnodeId] {
        &self.order
    }

    /// Appends the row of a call path: one value per location. For metrics of type `Double`, `MinDouble` and
    /// `MaxDouble`.
    ///
    /// # Errors
    ///
    /// If the call path is out of order, the length or the type of the values is wrong, or writing fails.
    pub fn push_f64(&mut self, cnode: CnodeId, row: &[f64]) -> Result<()> {
        self.push(cnode, row)
    }

    /// Appends the row of a call path, for metrics of type `UInt64`.
    ///
    /// # Errors
    ///
    /// As for [`push_f64`](RowWriter::push_f64).
    pub fn push_u64(&mut self, cnode: CnodeId, row: &[u64]) -> Result<()> {
        self.push(cnode, row)
    }

    /// Appends the row of a call path, for metrics of type `Int64`.
    ///
    /// # Errors
    ///
    /// As for [`push_f64`](RowWriter::push_f64).
    pub fn push_i64(&mut self, cnode: CnodeId, row: &[i64]) -> Result<()> {
        self.push(cnode, row)
    }

    /// Completes the metric.
    ///
    /// # Errors
    ///
    /// If rows are missing or writing fails.
    pub fn finish(self) -> Result<()> {
        let path = self.writer.path.clone();
        self.complete().map_err(|error| error.in_file(&path))
    }

    fn complete(self) -> Result<()> {
        if self.pushed < self.order.len() {
            let (name, pushed, all) = (self.writer.name(self.metric), self.pushed, self.order.len());
            return Err(Error::invalid(format!("{name}: {pushed} of {all} rows were pushed")));
        }
        self.writer.end(self.index)
    }

    fn push<T: WireNumber>(&mut self, cnode: CnodeId, row: &[T]) -> Result<()> {
        let result = self.check_type::<T>().and_then(|()| self.append(cnode, row));
        result.map_err(|error| error.in_file(&self.writer.path))
    }

    fn append<T: WireNumber>(&mut self, cnode: CnodeId, row: &[T]) -> Result<()> {
        let (values, locations) = (row.len(), self.writer.cube.locations.len());
        if values != locations {
            return self.broken(&format!("row of {values} values, expected {locations}"));
        }
        match self.order.get(self.pushed) {
            Some(turn) if *turn == cnode => {}
            Some(turn) => {
                return self.broken(&format!("row of cnode {}, expected cnode {}", cnode.0, turn.0));
            }
            None => return self.broken(&format!("row of cnode {} after the last one", cnode.0)),
        }
        self.row.clear();
        self.row.extend(row.iter().map(|value| value.to_le_bytes()));
        self.writer.archive.write(self.row.as_flattened()).map_err(write_failed)?;
        self.pushed += 1;
        Ok(())
    }

    fn check_type<T: WireNumber>(&self) -> Result<()> {
        let data_type = self.writer.cube.metrics.get(self.metric.0).map(|metric| &metric.data_type);
        if data_type.and_then(DataType::number_kind) == Some(T::KIND) {
            return Ok(());
        }
        let name = data_type.map_or(String::new(), DataType::to_string);
        self.broken(&format!("{} values pushed, expected {name}", T::NAME))
    }

    fn broken(&self, rule: &str) -> Result<()> {
        Err(Error::invalid(format!("{}: {rule}", self.writer.name(self.metric))))
    }
}
