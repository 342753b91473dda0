//! Tables there and back, their exact bytes, and damaged ones.

use details::{Codec, Column, Table, Unit, Values, parse, write};
use proptest::prelude::*;

fn table(columns: Vec<Column>) -> Table {
    Table { name: "waits".into(), columns }
}

#[test]
fn table_of_one_raw_column_has_the_bytes_of_the_format() {
    let mut column = Column::new("ticks", Some(Unit::Tick), Values::U16(vec![1, 515]));
    column.codec = Codec::Raw;
    let header = concat!(
        r#"{"name":"waits","rows":2,"columns":"#,
        r#"[{"name":"ticks","type":"u16","unit":"tick","codec":"raw","blocks":[[0,4,2]]}]}"#
    );
    let mut expected = b"RPTABLE1".to_vec();
    expected.extend((header.len() as u32).to_le_bytes());
    expected.extend(header.as_bytes());
    expected.extend([1, 0, 3, 2]);
    assert_eq!(write(&table(vec![column])).unwrap(), expected);
}

#[test]
fn rows_beyond_a_block_follow_in_the_next_one() {
    let rows: Vec<u32> = (0..70_000).map(|row| row * 7).collect();
    let all = table(vec![Column::new("cnode", Some(Unit::Cnode), Values::U32(rows)).delta()]);
    let bytes = write(&all).unwrap();
    assert!(bytes.len() < 3000, "{} bytes", bytes.len());
    assert_eq!(parse(&bytes).unwrap(), all);
}

#[test]
fn byte_behind_the_last_block_is_ignored() {
    let all = table(vec![Column::new("level", None, Values::U8(vec![1, 2, 3]))]);
    let mut bytes = write(&all).unwrap();
    bytes.push(0);
    assert_eq!(parse(&bytes).unwrap(), all);
}

#[test]
fn columns_that_make_no_table_are_refused() {
    let column = |name: &str, rows| Column::new(name, None, Values::U8(rows));
    for (columns, message) in [
        (vec![column("a", vec![1]), column("b", vec![])], "column b: 0 rows, expected 1"),
        (vec![column("a", vec![1]), column("a", vec![2])], "two columns are called a"),
        (
            vec![Column::new("a", None, Values::F64(vec![0.5])).delta()],
            "column a: only integers have differences",
        ),
    ] {
        assert_eq!(write(&table(columns)).unwrap_err().to_string(), message);
    }
}

/// A table with this header and these bytes behind it.
fn forged(header: &str, blocks: &[u8]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    [b"RPTABLE1", &length[..], header.as_bytes(), blocks].concat()
}

#[test]
fn tables_that_promise_more_than_they_have_are_refused() {
    let column = |rows: u64, kind: &str, codec: &str, blocks: &str| {
        let column =
            format!(r#"{{"name":"a","type":"{kind}","unit":null,"codec":"{codec}","blocks":{blocks}}}"#);
        format!(r#"{{"name":"t","rows":{rows},"columns":[{column}]}}"#)
    };
    for (bytes, message) in [
        (b"RPTABLE2".to_vec(), "byte 0: no table: it does not begin with RPTABLE1"),
        (b"RPTABLE1\x01".to_vec(), "byte 8: the table ends in its header"),
        (
            b"RPTABLE1\xff\xff\xff\xff{}".to_vec(),
            "byte 8: a header of 4294967295 bytes, of which 2 are there",
        ),
        (
            forged(&column(9, "u8", "raw", "[[0,9,9]]"), &[1; 8]),
            "blocks of 9 bytes together, of which 8 are there",
        ),
        (forged(&column(8, "u8", "raw", "[[1,8,8]]"), &[1; 8]), "column a: 8 bytes from byte 1 on, of 8"),
        (forged(&column(9, "u8", "raw", "[[0,8,9]]"), &[1; 8]), "block: 8 bytes for 9 rows, expected 9"),
        (forged(&column(9, "u8", "raw", "[]"), &[]), "9 rows are in no block"),
        (forged(&column(1, "u8", "raw", "[[0,1,1],[0,1,1]]"), &[1, 1]), "a block of 1 rows, expected 0"),
        (forged(&column(u64::MAX, "u8", "raw", "[[0,1,1]]"), &[1]), "a block of 1 rows, expected 65536"),
        (forged(&column(1, "u8", "zlib", "[[0,1,1]]"), &[1]), "cannot be decompressed"),
        (forged(&column(1, "f64", "delta+zlib", "[[0,1,1]]"), &[1]), "only integers have differences"),
        (forged(&column(1, "bytes", "raw", "[[0,4,1]]"), &[9, 0, 0, 0]), "say that they are longer"),
        (forged(&column(1, "bytes", "raw", "[[0,5,1]]"), &[0; 5]), "1 bytes behind the last row"),
        (forged(&column(1, "u7", "raw", "[]"), &[]), "header: unknown variant `u7`"),
    ] {
        let error = parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(message), "{error}, expected {message}");
    }
}

#[test]
fn blocks_that_share_bytes_are_refused() {
    let column = |name: &str| {
        format!(r#"{{"name":"{name}","type":"u8","unit":null,"codec":"raw","blocks":[[0,4,4]]}}"#)
    };
    let header = format!(r#"{{"name":"t","rows":4,"columns":[{},{}]}}"#, column("a"), column("b"));
    let error = parse(&forged(&header, &[1; 4])).unwrap_err().to_string();
    assert!(error.ends_with("blocks of 8 bytes together, of which 4 are there"), "{error}");
}

fn values(rows: usize) -> impl Strategy<Value = Values> {
    fn rows_of<T: std::fmt::Debug>(
        row: impl Strategy<Value = T>,
        rows: usize,
        values: impl Fn(Vec<T>) -> Values,
    ) -> impl Strategy<Value = Values> {
        prop::collection::vec(row, rows).prop_map(values)
    }
    prop_oneof![
        rows_of(any::<u8>(), rows, Values::U8),
        rows_of(any::<u16>(), rows, Values::U16),
        rows_of(any::<u32>(), rows, Values::U32),
        rows_of(any::<u64>(), rows, Values::U64),
        rows_of(any::<i64>(), rows, Values::I64),
        rows_of(-1e300..1e300, rows, Values::F64),
        rows_of(prop::collection::vec(any::<u8>(), 0..20), rows, Values::Bytes),
    ]
}

fn columns(rows: usize) -> impl Strategy<Value = Vec<Column>> {
    let column = (values(rows), 0..3_usize).prop_map(|(values, codec)| {
        let is_integer = !matches!(values, Values::F64(_) | Values::Bytes(_));
        let codec = [Codec::Raw, Codec::Zlib, if is_integer { Codec::DeltaZlib } else { Codec::Raw }][codec];
        Column { codec, ..Column::new("", Some(Unit::Count), values) }
    });
    prop::collection::vec(column, 0..5).prop_map(|mut columns| {
        (0..).zip(&mut columns).for_each(|(number, column): (u32, _)| column.name = number.to_string());
        columns
    })
}

proptest! {
    #[test]
    fn any_table_is_the_same_there_and_back(columns in (0..40_usize).prop_flat_map(columns)) {
        let all = table(columns);
        prop_assert_eq!(parse(&write(&all).unwrap()).unwrap(), all);
    }

    #[test]
    fn changed_bytes_are_a_table_or_an_error(
        columns in (1..40_usize).prop_flat_map(columns),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = write(&table(columns)).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = parse(&bytes);
        let _ = parse(&bytes[..length.index(bytes.len())]);
    }
}
