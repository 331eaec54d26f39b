//! A tool of one's own: typed arguments, its capability for the policy, and a preview for approvals.

#![expect(clippy::print_stdout, reason = "an example talks on the terminal")]

use std::error::Error;
use std::sync::Mutex;

use skill_core::ToolCall;
use tool_gateway::{
    Access, ErrorKind, Gateway, Mode, NoLog, Policy, Preview, Source, Tool, ToolContext, ToolError,
    ToolOutput, erase,
};

/// Appends lines to a list; what it changes is named as a path, so that path rules judge it.
#[derive(Debug, Default)]
struct AddTodo {
    list: Mutex<Vec<String>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// The list, such as `home` or `work`.
    list: String,
    /// What is to be done.
    item: String,
}

impl Tool for AddTodo {
    type Arguments = Arguments;

    fn name(&self) -> &str {
        "add_todo"
    }

    fn description(&self) -> &str {
        "Adds an item to a list of things to do."
    }

    fn access(&self, arguments: &Arguments) -> Result<Vec<Access>, ToolError> {
        if arguments.item.trim().is_empty() {
            // Nobody is asked about a call that cannot run.
            return Err(ToolError::new(
                ErrorKind::InvalidArguments,
                "`item` is empty: say what is to be done",
            ));
        }
        Ok(vec![Access::write(&format!("todo/{}", arguments.list))])
    }

    fn preview(&self, arguments: &Arguments) -> Result<Preview, ToolError> {
        Ok(Preview {
            action: Some(format!("add \"{}\" to {}", arguments.item, arguments.list)),
            ..Preview::default()
        })
    }

    async fn run(
        &self,
        _context: &ToolContext,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let mut list = self
            .list
            .lock()
            .map_err(|_| ToolError::failed("the list is lost"))?;
        list.push(arguments.item);
        Ok(ToolOutput::text(format!("{} items", list.len())))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = [(Source::User, "allow write(todo/home)".parse()?)];
    let (policy, _) = Policy::merge(Mode::Headless, rules);
    let gateway = Gateway::builder()
        .tool(erase(AddTodo::default()))
        .policy(policy)
        .build()?;

    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "add_todo".to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = [
        call("1", r#"{"list": "home", "item": "water the plants"}"#),
        call("2", r#"{"list": "work", "item": "write a report"}"#),
        call("3", r#"{"lst": "home"}"#),
    ];
    let context = ToolContext::without_skills("me", Default::default());
    for record in gateway.dispatch(&calls, &context, &NoLog).await? {
        println!(
            "{}: {}",
            record.result.status.as_str(),
            record.result.content
        );
    }
    Ok(())
}
