//! Any bytes as an anchor file: if it is accepted, encoding and parsing it again gives the same anchor.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use otf2::Anchor;
use replay_fuzz::{check_error, check_message};

fuzz_target!(|file: &[u8]| {
    let path = Path::new("traces.otf2");
    let anchor = match Anchor::parse(file, path) {
        Ok(anchor) => anchor,
        Err(error) => return check_error(&error, file),
    };
    if let Err(error) = anchor.check(path) {
        check_message(&error);
    }
    let encoded = anchor.encode(path).expect("what was parsed can be encoded");
    assert_eq!(Anchor::parse(&encoded, path).expect("what was encoded can be parsed"), anchor);
    // Only what follows the anchor is lost, and replacement characters may be longer than what they replace.
    let is_text = [&anchor.machine, &anchor.creator, &anchor.description]
        .into_iter()
        .chain(anchor.properties.iter().flat_map(|(name, value)| [name, value]))
        .all(|text| !text.contains(char::REPLACEMENT_CHARACTER));
    if is_text {
        let same = encoded.len() - 3;
        assert_eq!(file.get(..same), encoded.get(..same), "the same bytes again");
    }
});
