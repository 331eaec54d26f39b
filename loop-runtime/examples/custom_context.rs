//! A source of context of one's own: a turn gets what the calendar says about the day.
//!
//! Run it with `cargo run -p loop-runtime --example custom_context`. A program puts the source into
//! `Agent::sources`; the loop asks it beside the others, with a deadline.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use async_trait::async_trait;
use loop_runtime::{ContextError, ContextQuery, ContextSource, Gathered};
use prompt_compiler::{ContextFragment, FragmentKind};

/// Appointments: the day, and what is on.
#[derive(Debug)]
struct Calendar(Vec<(&'static str, &'static str)>);

#[async_trait]
impl ContextSource for Calendar {
    fn name(&self) -> &str {
        "calendar"
    }

    async fn gather(&self, query: &ContextQuery) -> Result<Gathered, ContextError> {
        if self.0.is_empty() {
            // Costs this source's fragments and a notice, never the turn.
            return Err(ContextError::new("the calendar is empty"));
        }
        let of_the_day = self.0.iter().filter(|(day, _)| query.text.contains(day));
        let lines: Vec<String> = of_the_day
            .map(|(day, what)| format!("{day}: {what}"))
            .collect();
        if lines.is_empty() {
            return Ok(Gathered::default());
        }
        let fragment = ContextFragment {
            provenance: "calendar".to_owned(),
            ..ContextFragment::new(FragmentKind::Recalled, "calendar", lines.join("\n"))
        };
        Ok(vec![fragment].into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), ContextError> {
    let source: Arc<dyn ContextSource> = Arc::new(Calendar(vec![
        ("Monday", "review at ten"),
        ("Tuesday", "nothing"),
    ]));
    let query = ContextQuery {
        text: "What is on this Monday?".to_owned(),
        file: None,
    };
    for fragment in source.gather(&query).await?.fragments {
        println!("{}: {}", fragment.name, fragment.text);
    }
    Ok(())
}
