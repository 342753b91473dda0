//! Damaged reports: they give errors or other values, and never a panic, an endless loop or exhausted memory.

mod support;

use std::io::Write;
use std::path::Path;

use cubex::{CnodeId, LocationId, MetricId, Report, Writer};
use support::{Padding, archive};

/// Reads everything in a report, if it is one.
fn read_all(path: &Path, bytes: &[u8]) -> Result<(), cubex::Error> {
    std::fs::write(path, bytes).unwrap();
    let report = Report::open(path)?;
    for name in report.members().map(str::to_owned).collect::<Vec<_>>() {
        report.member(&name)?;
    }
    for metric in 0..report.cube().metrics.len() {
        let _ = report.rows(MetricId(metric)).and_then(|mut rows| {
            while rows.next()?.is_some() {}
            Ok(())
        });
        if let Ok(severities) = report.severities(MetricId(metric)) {
            let _ = severities.total();
            let _ = severities.exclusive(CnodeId(0), LocationId(0));
        }
    }
    Ok(())
}

/// A report with plain rows.
fn plain(path: &Path) -> Vec<u8> {
    let mut writer = Writer::create(path, support::minimal()).unwrap();
    let (main, f) = (CnodeId(0), CnodeId(1));
    let mut rows = writer.metric(MetricId(0), &[main, f]).unwrap();
    rows.push_f64(main, &[3.0, 4.0]).unwrap();
    rows.push_f64(f, &[1.0, 2.5]).unwrap();
    rows.finish().unwrap();
    writer.add_member("notes", b"text").unwrap();
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

/// A report with compressed rows and a compressed anchor.
fn compressed() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(include_bytes!("minimal.xml")).unwrap();
    let anchor = encoder.finish().unwrap();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&[1; 16]).unwrap();
    let blob = encoder.finish().unwrap();
    let mut data = b"ZCUBEX.DATA".to_vec();
    for value in [1, 0, 0, blob.len() as u64] {
        data.extend(value.to_le_bytes());
    }
    data.extend(blob);
    let index = b"CUBEX.INDEX\x01\0\0\0\0\0\x01\x01\0\0\0\x01\0\0\0";
    let members: [(&str, &[u8]); 3] = [("anchor.xml", &anchor), ("1.data", &data), ("1.index", index)];
    archive(&members, Padding::Standard)
}

#[test]
fn truncated_anywhere() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    let plain = plain(&path);
    for size in 0..plain.len() {
        let result = read_all(&path, &plain[..size]);
        let anchor_is_whole = size >= plain.len() - 1024 - (512 - 1626 % 512);
        assert_eq!(result.is_ok(), anchor_is_whole, "{size} of {} bytes: {result:?}", plain.len());
    }
    let compressed = compressed();
    for size in 0..compressed.len() {
        let _ = read_all(&path, &compressed[..size]);
    }
}

#[test]
fn flipped_bits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    // SplitMix64: the same flips every time.
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    };
    for original in [plain(&path), compressed()] {
        for _ in 0..3000 {
            let mut bytes = original.clone();
            for _ in 0..=random(4) {
                let at = random(bytes.len());
                bytes[at] ^= 1 << random(8);
            }
            let _ = read_all(&path, &bytes);
        }
    }
}

#[test]
fn nesting_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    for element in
        ["<cnode id=\"0\" calleeId=\"0\">", "<metric id=\"0\">", "<systemtreenode Id=\"0\">", "<x>"]
    {
        for closed in [false, true] {
            let name = element.trim_matches(['<', '>']).split(' ').next().unwrap();
            let end = if closed { format!("</{name}>").repeat(100_000) + "</cube>" } else { String::new() };
            let text = format!("<cube>{}{end}", element.repeat(100_000));
            let bytes = archive(&[("anchor.xml", text.as_bytes())], Padding::Standard);
            let result = read_all(&path, &bytes);
            assert!(closed || result.is_err());
        }
    }
}

#[test]
fn announced_sizes_are_not_believed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    let anchor = include_str!("minimal.xml").replace("<dtype>DOUBLE", "<dtype>NDOUBLES(4294967295)");
    let index = b"CUBEX.INDEX\x01\0\0\0\0\0\x03";
    for data in [&b"CUBEX.DATA"[..], b"ZCUBEX.DATA\xff\xff\xff\xff\xff\xff\xff\xff"] {
        let members: [(&str, &[u8]); 3] =
            [("anchor.xml", anchor.as_bytes()), ("0.index", index), ("0.data", data)];
        read_all(&path, &archive(&members, Padding::Standard)).unwrap();
        assert!(Report::open(&path).unwrap().rows(MetricId(0)).is_err());
    }
}

#[test]
fn message_is_one_line_whatever_the_file_says() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.cubex");
    let derived = "<cube><metrics><metric id=\"0\" type=\"POSTDERIVED\"><uniq_name>\r\x1b[2J</uniq_name></metric></metrics></cube>";
    for text in ["<cube></\r\0>", derived] {
        std::fs::write(&path, archive(&[("anchor.xml", text.as_bytes())], Padding::Standard)).unwrap();
        let error =
            Report::open(&path).and_then(|report| report.severities(MetricId(0))).unwrap_err().to_string();
        assert!(error.contains("\\r") && !error.contains(char::is_control), "{error:?}");
    }
}
