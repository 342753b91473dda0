//! The smallest complete report, compared byte by byte.

mod support;

use cubex::{CnodeId, MetricId, Writer};

const ANCHOR: &str = include_str!("minimal.xml");

#[test]
fn minimal_report_has_the_documented_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("minimal.cubex");
    let (main, f) = (CnodeId(0), CnodeId(1));

    let mut writer = Writer::create(&path, support::minimal()).unwrap();
    let mut time = writer.metric(MetricId(0), &[main, f]).unwrap();
    time.push_f64(main, &[3.0, 4.0]).unwrap();
    time.push_f64(f, &[1.0, 2.5]).unwrap();
    time.finish().unwrap();
    let mut visits = writer.metric(MetricId(1), &[f]).unwrap();
    visits.push_u64(f, &[7, 8]).unwrap();
    visits.finish().unwrap();
    writer.finish().unwrap();

    let expected: [(&str, &[u8]); 5] = [
        (
            "0.data",
            b"CUBEX.DATA\
              \x00\x00\x00\x00\x00\x00\x08\x40\x00\x00\x00\x00\x00\x00\x10\x40\
              \x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x04\x40",
        ),
        ("0.index", b"CUBEX.INDEX\x01\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\x01\0\0\0"),
        ("1.data", b"CUBEX.DATA\x07\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0"),
        ("1.index", b"CUBEX.INDEX\x01\0\0\0\0\0\x01\x01\0\0\0\x01\0\0\0"),
        ("anchor.xml", ANCHOR.as_bytes()),
    ];
    let bytes = std::fs::read(&path).unwrap();
    let members = support::members(&bytes);
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    assert_eq!(String::from_utf8_lossy(members[4].1), ANCHOR);
    assert_eq!(members, expected);
    assert_eq!(members[4].1.len(), 1626);

    let header = &bytes[..512];
    let mut documented = [0; 512];
    for (at, field) in [
        (0, &b"0.data"[..]),
        (100, b"0000600"),
        (108, b"0000000"),
        (116, b"0000000"),
        (124, b"00000000052"),
        (136, b"00000000000"),
        (148, b"011242\0 "),
        (156, b"0"),
        (257, b"ustar\x0000"),
        (265, b"nouser"),
        (297, b"users"),
    ] {
        documented[at..at + field.len()].copy_from_slice(field);
    }
    assert_eq!(header, documented);
}
