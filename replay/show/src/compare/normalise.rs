//! Names of functions without what compilers add to them, so that two builds of a program have the same ones.

/// Suffixes of parts and copies of functions; a number may follow.
const SUFFIXES: [&str; 6] = [".constprop", ".isra", ".part", ".cold", "._omp_fn", ".lto_priv"];

/// Hexadecimal digits of the hash in a name of Rust.
const HASH: usize = 16;

/// The name without suffixes of compilers, hashes of Rust and trailing underscores of Fortran; without arguments of
/// templates if they are to be left out, too.
pub fn normalise(name: &str, strips_templates: bool) -> String {
    let mut rest = name;
    while let Some(shorter) = without_suffix(rest).or_else(|| without_hash(rest)) {
        rest = shorter;
    }
    let rest = match rest.trim_end_matches('_') {
        // A name of nothing else is not one of Fortran.
        "" => rest,
        shorter => shorter,
    };
    if strips_templates { without_templates(rest) } else { rest.to_owned() }
}

/// The name without one suffix: `f.isra.0`, or `f [clone .isra.0]` as some demanglers write it.
fn without_suffix(name: &str) -> Option<&str> {
    if let Some((front, clone)) = name.strip_suffix(']').and_then(|name| name.rsplit_once(" [clone ")) {
        return without_suffix(clone).filter(|rest| rest.is_empty()).map(|_| front);
    }
    let front = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let front = match front.len() < name.len() {
        true => front.strip_suffix('.')?,
        false => name,
    };
    SUFFIXES.iter().find_map(|suffix| front.strip_suffix(suffix))
}

/// The name without a hash of Rust: `a::f::h0123456789abcdef`.
fn without_hash(name: &str) -> Option<&str> {
    let (front, hash) = name.rsplit_once("::h")?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    (hash.len() == HASH && hash.bytes().all(is_digit)).then_some(front)
}

/// The name without arguments of templates, `a<b<c>>::d` as `a::d`. Names whose brackets do not match stay as they are.
fn without_templates(name: &str) -> String {
    let mut stripped = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        if depth == 0
            && let Some(sign) = operator(&stripped, rest)
        {
            stripped.push_str(sign);
            rest = &rest[sign.len()..];
            continue;
        }
        match letter {
            '<' => depth += 1,
            // Of `a->b` in an argument.
            '>' if name[..name.len() - rest.len()].ends_with('-') => {}
            '>' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return name.to_owned(),
            },
            letter if depth == 0 => stripped.push(letter),
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
    }
    if depth == 0 && !stripped.is_empty() { stripped } else { name.to_owned() }
}

/// The sign of an operator of C++ that looks like a bracket, if one begins here.
fn operator<'n>(before: &str, rest: &'n str) -> Option<&'n str> {
    if !before.ends_with("operator") {
        return None;
    }
    ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"]
        .into_iter()
        .find(|sign| rest.starts_with(sign))
        .map(|sign| &rest[..sign.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_add_is_left_out() {
        for (name, plain) in [
            ("f", "f"),
            ("f.constprop.0", "f"),
            ("f.isra.0.cold", "f"),
            ("f.part.12.lto_priv.3", "f"),
            ("main._omp_fn.1", "main"),
            ("f() [clone .isra.0]", "f()"),
            ("a::b::h0123456789abcdef", "a::b"),
            ("solve_", "solve"),
            ("solve__", "solve"),
            ("a::b::h0123", "a::b::h0123"),
            ("v1.2", "v1.2"),
            ("_", "_"),
            ("", ""),
        ] {
            assert_eq!(normalise(name, false), plain, "{name}");
        }
    }

    #[test]
    fn templates_are_left_out_on_demand() {
        assert_eq!(normalise("a<int>::b<c<d>>(e)", false), "a<int>::b<c<d>>(e)");
        assert_eq!(normalise("a<int>::b<c<d>>(e)", true), "a::b(e)");
        assert_eq!(normalise("operator<<<int>", true), "operator<<");
        assert_eq!(normalise("a<(b->c)>::operator->", true), "a::operator->");
        assert_eq!(normalise("a<b", true), "a<b");
        assert_eq!(normalise("a>b", true), "a>b");
        assert_eq!(normalise("<impl>", true), "<impl>");
    }
}
