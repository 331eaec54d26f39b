//! A value that must not appear in messages, logs or debug output.

use std::fmt;

/// An API key; prints as `[secret]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value; white space around it is dropped, as keys are often read from files.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// Returns the value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_does_not_print_itself() {
        assert_eq!(format!("{:?}", Some(Secret::new("sk-1"))), "Some([secret])");
    }

    #[test]
    fn white_space_around_a_key_is_dropped() {
        assert_eq!(Secret::new(" sk-1\n").expose(), "sk-1");
    }
}
