//! The property of the fuzz target, held against seeds that were changed at random.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use std::fs;
use std::path::Path;

#[path = "../fuzz/property.rs"]
mod property;

/// Pieces that mean something to a reader of skills.
const PIECES: &[&[u8]] = &[
    b"---\n",
    b"\n---\n",
    b"name: ",
    b"description: ",
    b"\n",
    b": ",
    b" #",
    b"\"",
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"| ",
    b">\n",
    b"&a ",
    b"*a",
    b"!t ",
    b"? ",
    b"- ",
    b"\t",
    b"  ",
    b"...\n",
    b"```\n",
    b"groups: ",
    b"paths: ",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xe2\x80\xae",
    b"\xf3\xa0\x81\x81",
    b"\xef\xbc\x9a",
    b"skill_id: ",
    b"policies: {",
    b"parameters:\n  a: ",
    b"entry: ",
    b"metadata:\n  ",
    b"null",
    b"true",
    b"1e3",
    b"</skill>",
    b"| sh\n",
    b"<<<<<<< a\n",
    b"# ",
    b"\\u0041",
    b"%",
    b"@",
    b"`",
    b",",
];

/// A generator whose numbers follow from its seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound.max(1)
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/parse");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| fs::read(path).expect("a seed"))
        .collect();
    assert!(seeds.len() >= 20);
    seeds
}

/// Returns one of `seeds` with a few changes.
fn mutated(seeds: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seeds[numbers.below(seeds.len())].clone();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len() + 1);
        let to = (at + numbers.below(24)).min(bytes.len());
        match numbers.below(7) {
            0 => bytes.insert(at, numbers.next() as u8),
            1 => drop(bytes.drain(at..to)),
            2 => drop(bytes.splice(at..at, bytes[at..to].to_vec())),
            3 => {
                let other = &seeds[numbers.below(seeds.len())];
                let from = numbers.below(other.len());
                let end = (from + numbers.below(48)).min(other.len());
                drop(bytes.splice(at..at, other[from..end].iter().copied()));
            }
            4 if at < bytes.len() => bytes[at] = numbers.next() as u8,
            _ => {
                let piece = PIECES[numbers.below(PIECES.len())];
                drop(bytes.splice(at..at, piece.iter().copied()));
            }
        }
    }
    bytes.truncate(4_096);
    bytes
}

fn check(inputs: u64, seed: u64) {
    let seeds = seeds();
    let mut numbers = Numbers(seed);
    for _ in 0..inputs {
        let bytes = mutated(&seeds, &mut numbers);
        let held = std::panic::catch_unwind(|| property::check(&bytes));
        assert!(
            held.is_ok(),
            "it does not hold for {:?}",
            bytes.escape_ascii().to_string()
        );
    }
}

#[test]
fn every_seed_comes_to_a_record_in_every_form() {
    for seed in seeds() {
        for form in 0..20 {
            let mut bytes = seed.clone();
            bytes[0] = form;
            property::check(&bytes);
        }
    }
}

#[test]
fn changed_seeds_come_to_records() {
    check(10_000, 0x5eed);
}

#[test]
#[ignore = "ten million inputs take minutes; see fuzz/README.md"]
fn ten_million_changed_seeds_come_to_records() {
    std::thread::scope(|scope| {
        for thread in 1..=2 {
            scope.spawn(move || check(5_000_000, 0x9e37_79b9 * thread));
        }
    });
}
