//! The masking of RFC 6455 §5.3, eight bytes at a time in safe code the compiler turns into vector instructions.

/// Masks or unmasks `bytes` in place; `key` applies to the first byte.
#[inline]
pub(super) fn apply(key: [u8; 4], bytes: &mut [u8]) {
    let wide = u64::from_ne_bytes([key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3]]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(wide.to_ne_bytes()) {
        *byte ^= key;
    }
}

/// The key for the byte that follows `count` bytes already masked with `key`.
#[inline]
pub(super) fn advanced(mut key: [u8; 4], count: usize) -> [u8; 4] {
    key.rotate_left(count % 4);
    key
}

#[cfg(test)]
mod tests {
    use super::{advanced, apply};

    #[test]
    fn masking_is_the_rfcs_byte_loop_at_every_length_and_split() {
        let key = [0x37, 0xfa, 0x21, 0x3d];
        for length in 0..70_u8 {
            let plain: Vec<u8> = (0..length).collect();
            let expected: Vec<u8> = plain.iter().enumerate().map(|(i, byte)| byte ^ key[i % 4]).collect();
            for split in 0..=plain.len() {
                let mut masked = plain.clone();
                let (first, second) = masked.split_at_mut(split);
                apply(key, first);
                apply(advanced(key, split), second);
                assert_eq!(masked, expected, "length {length}, split {split}");
            }
        }
    }
}
