//! Unusual reports: what other programs write, or what only looks strange, is read.

mod support;

use std::io::Write;
use std::path::PathBuf;

use cubex::{Cnode, CnodeId, LocationId, Members, MetricId, MetricKind, Report, Values};
use support::{Padding, archive, header};

const ANCHOR: &str = include_str!("minimal.xml");
const TIME: [&[f64]; 2] = [&[3.0, 4.0], &[1.0, 2.5]];

/// A report file in a temporary directory, which is removed with it.
struct Fixture {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn file(bytes: &[u8]) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    std::fs::write(&path, bytes).unwrap();
    Fixture { path, _directory: directory }
}

fn open(bytes: &[u8]) -> Result<Report, cubex::Error> {
    Report::open(&file(bytes).path)
}

fn index(tail: &[u8]) -> Vec<u8> {
    [b"CUBEX.INDEX\x01\0\0\0\0\0", tail].concat()
}

fn plain(rows: &[&[f64]]) -> Vec<u8> {
    let values = rows.iter().flat_map(|row| row.iter().flat_map(|value| value.to_le_bytes()));
    b"CUBEX.DATA".iter().copied().chain(values).collect()
}

fn rows(report: &Report, metric: usize) -> Vec<(usize, Vec<f64>)> {
    let mut reader = report.rows(MetricId(metric)).unwrap();
    let mut rows = Vec::new();
    while let Some((cnode, row)) = reader.next().unwrap() {
        rows.push((cnode.0, row.to_f64().unwrap()));
    }
    rows
}

fn has_time(report: &Report) {
    assert_eq!(rows(report, 0), [(0, TIME[0].to_vec()), (1, TIME[1].to_vec())]);
}

#[test]
fn dense_and_countless_indices() {
    let members: [(&str, &[u8]); 5] = [
        ("anchor.xml", ANCHOR.as_bytes()),
        ("0.index", &index(b"\x03")),
        ("0.data", &plain(&TIME)),
        ("1.index", &index(b"\x01")),
        ("1.data", b"CUBEX.DATA"),
    ];
    let report = open(&archive(&members, Padding::Standard)).unwrap();
    has_time(&report);
    assert_eq!(rows(&report, 1), []);
}

#[test]
fn metric_without_members_has_no_rows() {
    let report = open(&archive(&[("anchor.xml", ANCHOR.as_bytes())], Padding::Standard)).unwrap();
    assert_eq!(rows(&report, 0), []);
    assert_eq!(report.severities(MetricId(0)).unwrap().total(), 0.0);
}

#[test]
fn big_endian_pair() {
    let mut data = b"CUBEX.DATA".to_vec();
    data.extend([3.0, 4.0, 1.0, 2.5_f64].iter().flat_map(|value| value.to_be_bytes()));
    let index = b"CUBEX.INDEX\0\0\0\x01\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x01";
    let members: [(&str, &[u8]); 3] =
        [("0.data", &data), ("0.index", index), ("anchor.xml", ANCHOR.as_bytes())];
    has_time(&open(&archive(&members, Padding::Standard)).unwrap());
}

/// Compressed data for the two rows, with blobs in reverse order and an unused byte at the end.
fn compressed(big_endian: bool) -> Vec<u8> {
    let number = |value: u64| if big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let blobs = TIME.map(|row| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        row.iter().for_each(|value| encoder.write_all(&number(value.to_bits())).unwrap());
        encoder.finish().unwrap()
    });
    let sizes = blobs.each_ref().map(|blob| blob.len() as u64);
    let mut data = b"ZCUBEX.DATA".to_vec();
    for value in [2, 16, 0, sizes[1], 0, sizes[1], sizes[0]] {
        data.extend(number(value));
    }
    [&data[..], &blobs[1], &blobs[0], b"\n"].concat()
}

#[test]
fn compressed_rows_in_any_order() {
    let little = index(b"\x01\x02\0\0\0\0\0\0\0\x01\0\0\0");
    let big = b"CUBEX.INDEX\0\0\0\x01\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x01".to_vec();
    for (big_endian, index) in [(false, little), (true, big)] {
        let data = compressed(big_endian);
        let members: [(&str, &[u8]); 3] =
            [("0.data", &data), ("0.index", &index), ("anchor.xml", ANCHOR.as_bytes())];
        has_time(&open(&archive(&members, Padding::Standard)).unwrap());
    }
}

#[test]
fn compressed_anchor() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(ANCHOR.as_bytes()).unwrap();
    let anchor = encoder.finish().unwrap();
    let report = open(&archive(&[("anchor.xml", &anchor)], Padding::Standard)).unwrap();
    assert_eq!(report.cube(), &support::minimal());
}

#[test]
fn both_paddings_for_multiples_of_512() {
    for padding in [Padding::Standard, Padding::CubeLib] {
        for size in [0, 512, 1024] {
            let filler = vec![b'x'; size];
            let members: [(&str, &[u8]); 4] = [
                ("filler", &filler),
                ("0.data", &plain(&TIME)),
                ("0.index", &index(b"\x03")),
                ("anchor.xml", ANCHOR.as_bytes()),
            ];
            let report = open(&archive(&members, padding)).unwrap();
            assert_eq!(report.member("filler").unwrap(), Some(filler.clone()));
            has_time(&report);
        }
    }
}

#[test]
fn wrong_checksums_and_missing_end() {
    let mut bytes = archive(&[("anchor.xml", ANCHOR.as_bytes())], Padding::Standard);
    bytes[148..156].copy_from_slice(b"000000\0\0");
    bytes.truncate(bytes.len() - 1024);
    assert_eq!(open(&bytes).unwrap().cube(), &support::minimal());
}

#[test]
fn size_in_a_pax_record() {
    let mut bytes = header("PaxHeader/anchor.xml", b'x', 13).to_vec();
    bytes.extend(b"13 size=1626\n");
    bytes.resize(1024, 0);
    bytes.extend(header("anchor.xml", b'0', 0));
    bytes.extend(ANCHOR.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    let after = archive(&[("0.data", &plain(&TIME)), ("0.index", &index(b"\x03"))], Padding::Standard);
    has_time(&open(&[bytes, after].concat()).unwrap());
}

#[test]
fn last_of_several_members_counts() {
    let members: [(&str, &[u8]); 2] = [("anchor.xml", b"<junk"), ("anchor.xml", ANCHOR.as_bytes())];
    open(&archive(&members, Padding::Standard)).unwrap();
}

fn anchor(text: &str) -> Result<Report, cubex::Error> {
    open(&archive(&[("anchor.xml", text.as_bytes())], Padding::Standard))
}

#[test]
fn dialects_of_the_anchor() {
    let text = ANCHOR
        .replace("<url></url>", "<url/>")
        .replace("<region id", "\r\n\t <region Id")
        .replace(" Id=\"0\"", " id='0'")
        .replace("<metrics>", "<metrics title=\"x\"><!-- comment -->")
        .replace("<descr>Total time</descr>", "<descr><![CDATA[Total]]> time</descr>")
        .replace("<dtype>DOUBLE", "<unknown><deep>er</deep></unknown><dtype>FLOAT")
        .replace("</cube>", "</cube>\n \n");
    assert_eq!(anchor(&text).unwrap().cube(), &support::minimal());
}

#[test]
fn entities_other_than_the_five_stay() {
    let text = ANCHOR.replace("Total time", "a &lt;&amp;lt; &#65; &nbsp; R&D\nb");
    assert_eq!(anchor(&text).unwrap().cube().metrics[0].description, "a <&lt; &#65; &nbsp; R&D b");
}

#[test]
fn derived_and_ghost_metrics() {
    let text = ANCHOR.replace(
        "</metrics>",
        "<metric id=\"7\" type=\"POSTDERIVED\"><uniq_name>ratio</uniq_name>\
         <cubepl rowwise=false>metric::a() // half\n/ 2</cubepl>\
         <cubeplaggr cubeplaggrtype=plus>arg1</cubeplaggr></metric>\
         <metric id=\"9\" type=\"EXCLUSIVE\" viztype=\"GHOST\"></metric></metrics>",
    );
    let data = plain(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", text.as_bytes()), ("ghost_9.index", &index(b"\x03")), ("ghost_9.data", &data)];
    let report = open(&archive(&members, Padding::Standard)).unwrap();
    let derived = &report.cube().metrics[2];
    let expression = derived.expression.as_ref().unwrap();
    assert_eq!(derived.kind, MetricKind::Postderived);
    // Comments in expressions end with their lines.
    assert_eq!((expression.value.as_str(), expression.by_value), ("metric::a() // half\n/ 2", true));
    assert_eq!(expression.aggregations[0].1, "arg1");
    assert_eq!(rows(&report, 2), []);
    assert!(report.severities(MetricId(2)).unwrap_err().to_string().contains("derived"));
    assert_eq!(rows(&report, 3), [(0, vec![1.0, 2.0]), (1, vec![3.0, 4.0])]);
}

#[test]
fn members_of_an_archive_that_is_no_report_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.details");
    std::fs::write(&path, archive(&[("b", b"text"), ("a", b"more")], Padding::Standard)).unwrap();
    let members = Members::open(&path).unwrap();
    assert!(members.names().eq(["a", "b"]));
    assert_eq!(members.read("b").unwrap(), Some(b"text".to_vec()));
    assert_eq!(members.read("c").unwrap(), None);
    std::fs::write(&path, [b'x'; 512]).unwrap();
    assert!(Members::open(&path).unwrap_err().to_string().contains("x.details"));
}

#[test]
fn several_roots_and_unsorted_numbers_are_put_in_document_order() {
    // The specification's example, with a second root behind it.
    let tree = "0(3(1(7)9(2,8(4)5)6)10)11";
    let mut text = String::new();
    let mut number = String::new();
    for c in tree.chars().chain([',']) {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        if !number.is_empty() {
            text.push_str(&format!(
                "<cnode id=\"{number}\" calleeId=\"{}\">",
                if number == "4" { 1 } else { 0 }
            ));
            number.clear();
            text.push_str(if c == '(' { "" } else { "</cnode>" });
        }
        text.push_str(if c == ')' { "</cnode>" } else { "" });
    }
    let (before, rest) = ANCHOR.split_once("<cnode").unwrap();
    let after = rest.split_once("</program>").unwrap().1;
    let anchor = format!("{before}{text}</program>{after}");
    let values: Vec<Vec<f64>> = (0..12).map(|row| vec![f64::from(row); 2]).collect();
    let data = plain(&values.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", anchor.as_bytes()), ("0.index", &index(b"\x03")), ("0.data", &data)];
    let report = open(&archive(&members, Padding::Standard)).unwrap();
    // Time is inclusive: rows are in wide order 0 3 10 1 9 6 7 2 8 5 4 11 of the file's numbers.
    let document = [0, 3, 1, 7, 9, 2, 8, 4, 5, 6, 10, 11];
    let wide = [0, 3, 10, 1, 9, 6, 7, 2, 8, 5, 4, 11];
    let order: Vec<usize> = rows(&report, 0).iter().map(|(cnode, _)| document[*cnode]).collect();
    assert_eq!(order, wide);
    assert_eq!(report.cube().cnodes[7].region.0, 1);
    assert_eq!(report.cube().cnodes[11], Cnode::default());
}

#[test]
fn short_and_compound_elements() {
    let cases: [(&str, &[u8], Values); 4] = [
        ("INT16", b"\xfe\xff\x01\0", Values::I64(vec![-2, 1])),
        ("CHAR", b"\xff\x02", Values::U64(vec![255, 2])),
        ("UNSIGNED INT", b"\x01\0\0\0\0\0\0\x80", Values::U64(vec![1, 1 << 31])),
        ("TAU_ATOMIC", &[7; 72], Values::Raw(vec![7; 72])),
    ];
    for (name, row, expected) in cases {
        let text = ANCHOR.replace("UINT64", name);
        let data = [b"CUBEX.DATA", row].concat();
        let index = index(b"\x01\x01\0\0\0\x01\0\0\0");
        let members: [(&str, &[u8]); 3] =
            [("anchor.xml", text.as_bytes()), ("1.index", &index), ("1.data", &data)];
        let fixture = file(&archive(&members, Padding::Standard));
        let report = Report::open(&fixture.path).unwrap();
        assert_eq!(report.rows(MetricId(1)).unwrap().next().unwrap(), Some((CnodeId(1), expected)));
        assert_eq!(report.severities(MetricId(1)).is_ok(), name != "TAU_ATOMIC");
    }
}

#[test]
fn void_metric_is_zero() {
    let text = ANCHOR.replacen("<uom>sec</uom>", "<uom>sec</uom><val>VOID</val>", 1);
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", text.as_bytes()), ("0.index", &index(b"\x03")), ("0.data", &plain(&TIME))];
    let report = open(&archive(&members, Padding::Standard)).unwrap();
    assert_eq!(report.severities(MetricId(0)).unwrap().stored(CnodeId(0), LocationId(0)), 0.0);
}

#[test]
fn retired_kind_is_read_as_inclusive() {
    let text = ANCHOR.replacen("type=\"INCLUSIVE\"", "type=\"SIMPLE\"", 1);
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", text.as_bytes()), ("0.index", &index(b"\x03")), ("0.data", &plain(&TIME))];
    let report = open(&archive(&members, Padding::Standard)).unwrap();
    assert_eq!(report.cube().metrics[0].kind, MetricKind::Simple);
    assert_eq!(report.severities(MetricId(0)).unwrap().exclusive(CnodeId(0), LocationId(0)), 2.0);
}

#[test]
fn what_does_not_exist_is_said_not_guessed() {
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", ANCHOR.as_bytes()), ("0.index", &index(b"\x03")), ("0.data", &plain(&TIME))];
    let fixture = file(&archive(&members, Padding::Standard));
    let report = Report::open(&fixture.path).unwrap();
    let explained = |error: cubex::Error| error.to_string().split_once("x.cubex: ").unwrap().1.to_owned();
    assert_eq!(explained(report.rows(MetricId(7)).unwrap_err()), "metric 7 does not exist");
    assert_eq!(explained(report.severities(MetricId(7)).unwrap_err()), "metric 7 does not exist");
    assert_eq!(report.member("notes").unwrap(), None);
    let rows = report.rows(MetricId(0)).unwrap();
    assert_eq!(rows.cnodes(), [CnodeId(0), CnodeId(1)]);
    assert_eq!(rows.row(1).unwrap(), Values::F64(TIME[1].to_vec()));
    assert_eq!(explained(rows.row(2).unwrap_err()), "member 0.data: row 2 does not exist; there are 2");
}

#[test]
fn coordinates_of_nobody_are_refused() {
    let placed = |who: &str| {
        let grid =
            format!("<cart ndims=\"1\"><dim size=\"2\" periodic=\"false\"/><coord {who}>1</coord></cart>");
        let text = ANCHOR.replace("</topologies>", &format!("{grid}</topologies>"));
        anchor(&text).map(drop).map_err(|error| error.to_string())
    };
    placed("locId=\"1\"").unwrap();
    placed("lgId=\"1\"").unwrap();
    assert!(placed("locId=\"2\"").unwrap_err().ends_with("location 2 does not exist"));
    assert!(placed("lgId=\"2\"").unwrap_err().ends_with("location group 2 does not exist"));
}

#[test]
fn rows_larger_than_any_file_are_refused() {
    let text = ANCHOR.replace("<dtype>DOUBLE", "<dtype>HISTOGRAM(4294967295)");
    let count = 24_000;
    let cnodes: String = (2..count).map(|id| format!("<cnode id=\"{id}\" calleeId=\"0\"></cnode>")).collect();
    let locations: String = (2..count).map(|id| format!("<location Id=\"{id}\"></location>")).collect();
    let text = text.replacen("</program>", &format!("{cnodes}</program>"), 1);
    let text = text.replacen("</locationgroup>", &format!("{locations}</locationgroup>"), 1);
    let members: [(&str, &[u8]); 3] =
        [("anchor.xml", text.as_bytes()), ("0.index", &index(b"\x03")), ("0.data", b"CUBEX.DATA")];
    let fixture = file(&archive(&members, Padding::Standard));
    let error = Report::open(&fixture.path).unwrap().rows(MetricId(0)).unwrap_err().to_string();
    assert!(error.ends_with("member 0.data: rows are larger than any file"), "{error}");
}

#[test]
fn what_cannot_be_opened_or_read_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("x.cubex");
    let error = Report::open(&missing).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot open: ", missing.display())), "{error}");
    assert!(Report::open(directory.path()).is_err());
}

#[test]
fn errors_say_where_and_what() {
    let with = |name: &str, bytes: &[u8]| {
        let mut members = vec![("anchor.xml", ANCHOR.as_bytes())];
        let (index, data) = (index(b"\x03"), plain(&TIME));
        members.push(("0.index", if name == "0.index" { bytes } else { &index }));
        members.push(("0.data", if name == "0.data" { bytes } else { &data }));
        let fixture = file(&archive(&members, Padding::Standard));
        let error = Report::open(&fixture.path).unwrap().rows(MetricId(0)).unwrap_err().to_string();
        error.strip_prefix(&format!("{}: ", fixture.path.display())).unwrap().to_owned()
    };
    let too_many = index(b"\x01\x09\0\0\0");
    assert_eq!(
        with("0.index", &too_many),
        "member 0.index: byte 18: 9 rows, expected at most 2, one per call path"
    );
    assert_eq!(with("0.data", b"CUBEX.DATA1234"), "member 0.data: byte 10: 4 bytes of rows, expected 32");
    assert_eq!(
        with("0.data", b"CUBEX"),
        "member 0.data: byte 0: starts with neither CUBEX.DATA nor ZCUBEX.DATA"
    );
    let explain = |bytes: &[u8]| {
        let error = open(bytes).unwrap_err().to_string();
        error.split_once("x.cubex: ").unwrap().1.to_owned()
    };
    assert_eq!(explain(b"PK"), "byte 0: not a report: does not start with a tar header");
    assert_eq!(
        explain(&archive(&[("a", b"b")], Padding::Standard)),
        "not a report: there is no member anchor.xml"
    );
    assert_eq!(
        explain(&archive(&[("anchor.xml", b"<cube><metrics>")], Padding::Standard)),
        "member anchor.xml: byte 15: the text ends before </cube>"
    );
    let text = ANCHOR.replace("calleeId=\"1\"", "calleeId=\"5\"");
    assert!(anchor(&text).unwrap_err().to_string().ends_with("region 5 does not exist"));
}
