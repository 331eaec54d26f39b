//! Does nothing: what it costs to start and end a program at all.

fn main() {}
