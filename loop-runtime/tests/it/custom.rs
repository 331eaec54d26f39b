//! The store of `examples/custom_store.rs`: the contract, and every cut of its file.

#[path = "../../examples/custom_store.rs"]
mod custom_store;

use loop_runtime::testing::check_store;
use loop_runtime::{SessionStore, StoreErrorKind};

use crate::crash::folder;
use custom_store::LinesStore;

#[tokio::test]
async fn a_store_of_ones_own_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let store = LinesStore::new(folder.path());
    assert_eq!(check_store(&store).await, Ok(()));
}

#[tokio::test]
async fn p10_p12_wherever_a_file_of_lines_is_cut_it_opens_with_every_whole_write() {
    let folder = folder();
    let store = LinesStore::new(folder.path());
    assert_eq!(check_store(&store).await, Ok(()));
    let whole = store.load("one").await.unwrap().entries;
    let path = store.path("one").unwrap();
    let text = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (1..=text.len())
        .filter(|end| text[end - 1] == b'\n')
        .collect();
    // What each line of the suite holds: two events, one, and one.
    let held = [2, 3, 4];
    assert_eq!(ends.len(), held.len());
    for end in 0..=text.len() {
        std::fs::write(&path, &text[..end]).unwrap();
        let expected = ends.iter().filter(|line| **line <= end).count();
        match store.load("one").await {
            Ok(record) => assert_eq!(record.entries, whole[..held[expected - 1]], "{end}"),
            Err(error) => {
                assert_eq!(
                    (error.kind, expected),
                    (StoreErrorKind::NotFound, 0),
                    "{end}"
                );
            }
        }
        // The next write takes the place of what was torn.
        if let Some(next) = expected
            .checked_sub(1)
            .and_then(|line| whole.get(held[line]))
        {
            store
                .append("one", std::slice::from_ref(next))
                .await
                .unwrap();
            let record = store.load("one").await.unwrap();
            assert_eq!(record.entries, whole[..=held[expected - 1]], "{end}");
        }
    }
}
