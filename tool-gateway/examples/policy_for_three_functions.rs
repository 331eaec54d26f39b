//! An approval policy in front of three functions: one runs, one is asked about, one never runs.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks on the terminal"
)]

use std::error::Error;
use std::sync::Arc;

use skill_core::ToolCall;
use tool_gateway::{
    Approval, ApprovalRequest, Approver, Gateway, Mode, NoLog, Policy, Source, ToolContext,
    ToolOutput, function,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Account {
    /// The number of the account.
    number: u32,
}

/// Asks on the terminal.
#[derive(Debug)]
struct Terminal;

#[async_trait::async_trait]
impl Approver for Terminal {
    async fn decide(&self, request: &ApprovalRequest) -> Approval {
        eprintln!("{}\n{}\nrun it? [y/N]", request.reason, request.action);
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(_) if answer.trim() == "y" => Approval::Allow,
            _ => Approval::Deny {
                reason: "the user said no".to_owned(),
            },
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let done = |what: &'static str| {
        move |account: Account| async move { Ok(ToolOutput::text(format!("{what} {}", account.number))) }
    };
    let (policy, _) = Policy::merge(
        Mode::Interactive,
        [
            (Source::User, "allow tool(balance)".parse()?),
            (Source::User, "ask tool(transfer)".parse()?),
            (Source::User, "deny tool(close)".parse()?),
        ],
    );
    let gateway = Gateway::builder()
        .tool(function(
            "balance",
            "Shows a balance.",
            done("the balance of"),
        ))
        .tool(function(
            "transfer",
            "Transfers money.",
            done("transferred from"),
        ))
        .tool(function("close", "Closes an account.", done("closed")))
        .policy(policy)
        .approver(Arc::new(Terminal))
        .build()?;

    // The calls would come from a model.
    let calls = ["balance", "transfer", "close"].map(|name| ToolCall {
        id: format!("call-{name}"),
        name: name.to_owned(),
        arguments: r#"{"number": 7}"#.to_owned(),
    });
    let context = ToolContext::without_skills("bank", Default::default());
    for record in gateway.dispatch(&calls, &context, &NoLog).await? {
        println!(
            "{}: {}",
            record.result.status.as_str(),
            record.result.content
        );
    }
    Ok(())
}
