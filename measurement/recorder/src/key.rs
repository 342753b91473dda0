//! Keys: hashes that processes compute of what they all know, to identify shared objects without a message.

/// Returns a hash that depends on all of `parts` and their order.
pub(crate) fn of(parts: &[u64]) -> u64 {
    parts.iter().fold(0x2545_f491_4f6c_dd1d, |key, &part| mix(key ^ part).wrapping_add(key.rotate_left(17)))
}

/// Returns the hash of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    // FNV-1a, then mixed, for short names.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    mix(hash ^ bytes.len() as u64)
}

/// Returns the hash of some integers.
pub(crate) fn of_words(words: &[u32]) -> u64 {
    words.iter().fold(of(&[words.len() as u64]), |key, &word| mix(key ^ u64::from(word)))
}

/// Mixes the bits of an integer (the finalizer of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
