//! Any bytes, read as a file of any form.
#![no_main]

#[path = "../property.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| property::check(bytes));
