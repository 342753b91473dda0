//! Content security policy of the page: nothing is loaded, and nothing runs but the one script and the one style that it has.

use sha2::{Digest, Sha256};

use super::base64::base64;

/// The policy of a page with this style, and this script if it has one.
pub(super) fn policy(style: &str, script: Option<&str>) -> String {
    let script = script.map_or("'none'".to_owned(), source);
    let style = source(style);
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; img-src data: blob:; worker-src blob:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// The same for a page that asks the server it came from.
pub(super) fn served(style: &str, script: &str) -> String {
    format!("{}; connect-src 'self'", policy(style, Some(script)))
}

/// The policy of a page whose parts are files beside it.
pub(super) const OF_FILES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'";

/// The one text that is allowed, by its hash.
fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_browsers_compute() {
        // The example of the specification of content security policies.
        assert_eq!(
            source("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }

    #[test]
    fn nothing_inline_is_allowed() {
        let policy = policy("p{}", None);
        assert!(policy.contains("script-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(!policy.contains("connect-src") && served("p{}", "f()").ends_with("; connect-src 'self'"));
    }
}
