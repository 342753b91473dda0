//! Generated parts of the documentation: tests compare them with the program, so they cannot become outdated.

use std::fs;

use super::project;

/// Fails unless the page has this text between the comments that name `writer`; with `REPLAY_WRITE_DOCS=1`
/// writes it.
pub(crate) fn is_written(page: &str, writer: &str, text: &str) {
    let begin = format!("<!-- Written by {writer}: REPLAY_WRITE_DOCS=1 cargo test -->\n");
    let end = format!("<!-- End of what {writer} writes -->\n");
    let path = project(page);
    let whole = fs::read_to_string(&path).unwrap();
    let (before, rest) = whole.split_once(&begin).unwrap_or_else(|| panic!("{page} lacks {begin}"));
    let (there, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{page} lacks {end}"));
    if std::env::var_os("REPLAY_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{begin}{text}{end}{after}")).unwrap();
        return;
    }
    let differs = there.lines().zip(text.lines()).find(|(there, here)| there != here);
    assert!(there == text, "{page} is old (REPLAY_WRITE_DOCS=1 renews it): {differs:?}");
}
