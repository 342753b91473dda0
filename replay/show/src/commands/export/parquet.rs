//! `parquet`: a directory with a file for each table, for pandas, Polars, DuckDB and others.
//!
//! All columns may have nothing in a row. Texts are UTF-8, stored once for each row group (dictionaries). The file's metadata
//! have `replay.schema`, `ticks_per_second`, `program`, and `unit.COLUMN` where a column has a unit.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use rustc_hash::FxHashMap;

use super::Remarks;
use super::relations::{Cell, Column, Kind, Rows, Take, give};
use super::source::Source;
use crate::commands::sink::Folder;
use crate::error::{Error, Result};

/// Rows of a group: what is in memory at a time.
const GROUP: usize = 1_000_000;

/// Bytes of different texts after which a group ends earlier.
const GROUP_BYTES: usize = 64 << 20;

/// Writes all tables.
///
/// # Errors
/// If the report cannot be read, or a file not be written.
pub(super) fn write(source: &Source<'_>, folder: &mut Folder) -> Result<Remarks> {
    let mut metadata = vec![KeyValue::new("replay.schema".to_owned(), "replay-show.export/1".to_owned())];
    if let Some(manifest) = &source.opened.manifest {
        let frequency = manifest.ticks_per_second.to_string();
        metadata.push(KeyValue::new("ticks_per_second".to_owned(), frequency));
    }
    metadata.push(KeyValue::new("program".to_owned(), source.title()));
    give(source, &mut Files { folder, metadata })
}

struct Files<'f> {
    folder: &'f mut Folder,
    metadata: Vec<KeyValue>,
}

impl Take for Files<'_> {
    fn table(&mut self, name: &str, columns: &[Column], rows: Box<Rows<'_>>) -> Result<()> {
        let schema = Arc::new(schema(columns).map_err(wrong)?);
        let mut metadata = self.metadata.clone();
        let units = columns.iter().filter(|column| !column.unit.is_empty());
        metadata.extend(
            units.map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned())),
        );
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(metadata))
            .build();
        self.folder.file(&format!("{name}.parquet"), |out| {
            let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(wrong)?;
            let mut group = Group::new(columns);
            rows(&mut |cells| {
                group.push(cells);
                if group.is_full() {
                    group.write(&mut writer)?;
                }
                Ok(())
            })?;
            group.write(&mut writer)?;
            writer.close().map_err(wrong)?;
            Ok(())
        })
    }
}

fn wrong(error: ParquetError) -> Error {
    Error::new(format!("cannot write Parquet: {error}"))
}

fn schema(columns: &[Column]) -> std::result::Result<Type, ParquetError> {
    let fields = columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Int32 => (Physical::INT32, None),
            Kind::Int64 => (Physical::INT64, None),
            Kind::Double => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        Ok(Arc::new(field.build()?))
    });
    let fields = fields.collect::<std::result::Result<Vec<_>, ParquetError>>()?;
    Type::group_type_builder("replay").with_fields(fields).build()
}

/// The values of a column in a group, without those that are missing.
enum Buffer {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Double(Vec<f64>),
    /// Equal texts share their bytes.
    Text(Vec<ByteArray>, FxHashMap<Box<str>, ByteArray>),
}

/// Rows that are not written yet.
struct Group {
    buffers: Vec<Buffer>,
    /// For each column and row, 1 if there is a value, else 0.
    levels: Vec<Vec<i16>>,
    rows: usize,
    bytes: usize,
}

impl Group {
    fn new(columns: &[Column]) -> Group {
        let buffers = columns.iter().map(|column| match column.kind {
            Kind::Int32 => Buffer::Int32(Vec::new()),
            Kind::Int64 => Buffer::Int64(Vec::new()),
            Kind::Double => Buffer::Double(Vec::new()),
            Kind::Text => Buffer::Text(Vec::new(), FxHashMap::default()),
        });
        Group { buffers: buffers.collect(), levels: vec![Vec::new(); columns.len()], rows: 0, bytes: 0 }
    }

    fn is_full(&self) -> bool {
        self.rows >= GROUP || self.bytes >= GROUP_BYTES
    }

    fn push(&mut self, cells: &[Cell<'_>]) {
        self.rows += 1;
        for ((buffer, levels), cell) in self.buffers.iter_mut().zip(&mut self.levels).zip(cells) {
            let is_there = match (buffer, cell) {
                (Buffer::Int32(all), Cell::Integer(value)) => {
                    // Positions and ranks; what does not fit is no such thing.
                    i32::try_from(*value).map(|value| all.push(value)).is_ok()
                }
                (Buffer::Int64(all), Cell::Integer(value)) => {
                    all.push(*value);
                    true
                }
                (Buffer::Double(all), Cell::Double(value)) => {
                    all.push(*value);
                    true
                }
                (Buffer::Text(all, known), Cell::Text(text)) => {
                    let shared = known.get(text.as_ref()).cloned().unwrap_or_else(|| {
                        self.bytes += 2 * text.len();
                        let shared = ByteArray::from(text.as_bytes().to_vec());
                        known.insert(text.as_ref().into(), shared.clone());
                        shared
                    });
                    all.push(shared);
                    true
                }
                _ => false,
            };
            levels.push(is_there.into());
        }
    }

    /// Writes the rows as a row group, and forgets them.
    fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(wrong)?;
        for (buffer, levels) in self.buffers.iter_mut().zip(&mut self.levels) {
            let Some(mut column) = group.next_column().map_err(wrong)? else { break };
            write_column(&mut column, buffer, levels).map_err(wrong)?;
            column.close().map_err(wrong)?;
            levels.clear();
        }
        group.close().map_err(wrong)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    buffer: &mut Buffer,
    levels: &[i16],
) -> std::result::Result<(), ParquetError> {
    match buffer {
        Buffer::Int32(all) => {
            column.typed::<Int32Type>().write_batch(all, Some(levels), None)?;
            all.clear();
        }
        Buffer::Int64(all) => {
            column.typed::<Int64Type>().write_batch(all, Some(levels), None)?;
            all.clear();
        }
        Buffer::Double(all) => {
            column.typed::<DoubleType>().write_batch(all, Some(levels), None)?;
            all.clear();
        }
        Buffer::Text(all, known) => {
            column.typed::<ByteArrayType>().write_batch(all, Some(levels), None)?;
            all.clear();
            known.clear();
        }
    }
    Ok(())
}
