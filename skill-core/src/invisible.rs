//! Characters that nobody sees.

/// Tells whether a terminal acts on `c`, or nothing is seen of it: control and format characters,
/// bidirectional and zero-width ones, tags, variation selectors, fillers and blanks.
///
/// It is the one list of them: what shows text from elsewhere asks here, so that no two places
/// take different characters for harmless.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            // Default-ignorable and format characters, fillers and blanks.
            0xAD | 0x34F | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x8E2 | 0x890..=0x891
            | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
            | 0xFFA0 | 0xFFF0..=0xFFFB | 0x110BD | 0x110CD | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}
