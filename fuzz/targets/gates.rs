//! Text of a gate, of an amount, and of a map of call paths: read, or refused with a place in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use replay_fuzz::check_message;
use show::compare::mapping::Mapping;
use show::compare::normalise::normalise;
use show::gates::parse;

// The whole input is the text; that which is no UTF-8 is replaced, as on the command line.
fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match parse::gate(&text) {
        Ok(gate) => {
            assert_eq!(gate.text, text.trim());
            assert_eq!(parse::gate(&gate.text).as_ref(), Ok(&gate), "the same gate again");
            assert!(gate.is_of_change() <= gate.needs_two_sides());
        }
        Err(wrong) => {
            assert!(wrong.text.is_char_boundary(wrong.at), "a place in the text");
            check_message(&wrong);
        }
    }
    if let Err(wrong) = parse::amount(&text) {
        assert!(wrong.text.is_char_boundary(wrong.at), "a place in the text");
    }
    if let Err(error) = Mapping::parse(&text) {
        assert!(error.to_string().starts_with("line "));
    }
    for strips_templates in [false, true] {
        let plain = normalise(&text, strips_templates);
        assert!(plain.len() <= text.len());
    }
});
