//! File systems as the system lists them in `/proc/self/mounts` (`fstab(5)`): a line for each, with what is mounted, where, the
//! kind of file system, and more.

use crate::journal::Mount;

/// Parses the list; lines that make no sense are passed over.
pub fn parse(list: &[u8]) -> impl Iterator<Item = Mount> {
    list.split(|&byte| byte == b'\n').filter_map(mount)
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty()).map(unescaped);
    Some(Mount { source: fields.next()?, point: fields.next()?, kind: fields.next()? })
}

/// Decodes what the system writes for blanks, tabs, newlines, `\` and `#`: a `\` and three octal digits.
fn unescaped(field: &[u8]) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let Some((&byte, behind)) = rest.split_first() {
        let code = behind.get(..3).filter(|_| byte == b'\\').and_then(octal);
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0u8, |value, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
        value.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(source: &str, point: &str, kind: &str) -> Mount {
        Mount { source: source.into(), point: point.into(), kind: kind.into() }
    }

    #[test]
    fn mounts_are_the_first_three_fields_of_lines() {
        let list =
            b"/dev/sda1 / ext4 rw,relatime 0 0\n\nnonsense here\n10.0.0.1@tcp:/work /work lustre rw 0 0\n";
        let all: Vec<_> = parse(list).collect();
        assert_eq!(all, [mount("/dev/sda1", "/", "ext4"), mount("10.0.0.1@tcp:/work", "/work", "lustre")]);
    }

    #[test]
    fn octal_digits_behind_a_backslash_are_a_byte() {
        let only = |line: &str| parse(line.as_bytes()).next().unwrap();
        let whole = mount("a b", "/my\tdisk\\x", "ext4");
        assert_eq!(only(r"a\040b /my\011disk\134x ext4 rw 0 0"), whole);
        assert_eq!(only(r"\303\244 /\999 \04"), mount("ä", r"/\999", r"\04"));
        assert_eq!(only(r"a\ /b\777 x"), mount(r"a\", r"/b\777", "x"));
    }
}
