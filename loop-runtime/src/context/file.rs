//! The current file: whole, with the parts that matter for the task beside it.

use async_trait::async_trait;
use prompt_compiler::{ContextFragment, FragmentKind};

use super::reader::{ContextReader, Found};
use super::words::Words;
use super::{ContextError, ContextQuery, ContextSource, Gathered};

/// How many passages of a file are its excerpts.
const EXCERPTS: usize = 6;

/// Brings the file that is open where the user works.
#[derive(Clone, Debug)]
pub struct CurrentFile {
    reader: ContextReader,
}

impl CurrentFile {
    /// Returns the source over what `reader` reads.
    pub fn new(reader: ContextReader) -> Self {
        Self { reader }
    }
}

#[async_trait]
impl ContextSource for CurrentFile {
    fn name(&self) -> &str {
        "current file"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        let Some(path) = &query.file else {
            return Ok(Gathered::default());
        };
        let Found::Text(text, cut) = self.reader.read(path).await? else {
            return Err(ContextError::new(format!(
                "`{path}` is a folder, not a file"
            )));
        };
        let fragment = ContextFragment {
            excerpts: excerpts(&text, &query.text),
            provenance: path.clone(),
            ..ContextFragment::new(
                FragmentKind::CurrentFile,
                format!("current file {path}"),
                text,
            )
        };
        let notices =
            cut.then(|| format!("the end of `{path}` is left out: the file is too large"));
        Ok(Gathered {
            fragments: vec![fragment],
            notices: notices.into_iter().collect(),
        })
    }
}

/// Returns the paragraphs that share most with `task`, in the order of the text; `None` if none
/// shares anything.
fn excerpts(text: &str, task: &str) -> Option<String> {
    let wanted = Words::of(task);
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let mut scored: Vec<(usize, usize)> = paragraphs
        .iter()
        .enumerate()
        .map(|(at, paragraph)| (Words::of(paragraph).shared(&wanted), at))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.truncate(EXCERPTS);
    scored.sort_by_key(|(_, at)| *at);
    let chosen: Vec<&str> = scored
        .iter()
        .filter_map(|(_, at)| paragraphs.get(*at).copied())
        .collect();
    (!chosen.is_empty()).then(|| chosen.join("\n\n[…]\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_the_paragraphs_that_share_words_with_the_task_in_their_order() {
        let text = "Intro.\n\nThe importer reads CSV.\n\nLunch.\n\nTests of the importer.";
        assert_eq!(
            excerpts(text, "how does the importer read csv?").as_deref(),
            Some("The importer reads CSV.\n\n[…]\n\nTests of the importer.")
        );
        assert_eq!(excerpts(text, "天气"), None);
    }
}
