//! Patterns of names: `*` is any number of characters, `?` is one; all else is itself.

/// The longest pattern, in bytes.
pub(crate) const LONGEST: usize = 256;

/// Whether a name fits a pattern. Takes time in proportion to the product of their lengths at most.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how far it has reached.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                n += character(name, n);
            }
            Some(&byte) if byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, reached)) => {
                    let next = reached + character(name, reached);
                    star = Some((at, next));
                    (p, n) = (at + 1, next);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// The length of the character that begins here.
fn character(name: &[u8], at: usize) -> usize {
    1 + name[at + 1..].iter().take_while(|&&byte| byte & 0xc0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_fits_any_number_of_characters() {
        assert!(fits("MPI_*", "MPI_Send") && fits("MPI_*", "MPI_") && fits("*a*b", "xaxxbb"));
        assert!(!fits("MPI_*", "PMPI_Send") && !fits("*a*b", "xaxxbc"));
    }

    #[test]
    fn a_question_mark_fits_one_character_of_any_length() {
        assert!(fits("a?c", "abc") && fits("a?c", "aµc"));
        assert!(!fits("a?c", "ac") && !fits("a?", "a"));
    }

    #[test]
    fn a_pattern_without_signs_fits_itself_only() {
        assert!(fits("main", "main") && fits("", ""));
        assert!(!fits("main", "main2") && !fits("", "m"));
    }

    #[test]
    fn many_stars_take_little_time() {
        assert!(!fits(
            &"a*".repeat(128),
            &"a".repeat(10_000).replace("aaaa", "aaab")[..9_000].replace('a', "b")
        ));
    }
}
