//! `tekne complete`: the text that belongs at a cursor, and nothing else.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use loop_runtime::{Profile, TurnRequest, completion};

use crate::app::Context;
use crate::commands::turn;
use crate::error::CliError;
use crate::error::Exit;
use crate::interrupt::Interrupts;
use crate::setup::Wanted;

/// The largest file that is completed, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Arguments of `tekne complete`.
#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The file that is edited, as it is on disk
    #[arg(long, value_name = "PATH")]
    file: PathBuf,
    /// Where the cursor stands, in bytes from the beginning
    #[arg(long, value_name = "N")]
    offset: usize,
}

/// Runs the command.
pub(crate) fn run(context: &Context, arguments: &CompleteArgs) -> Result<Exit, CliError> {
    let interrupts = Interrupts::new();
    let path = context.environment.cwd.join(&arguments.file);
    let text = read(&path)?;
    let name = arguments.file.display().to_string();
    let input = completion(&name, &text, arguments.offset).ok_or_else(|| {
        let length = text.len();
        CliError::usage(format!(
            "--offset: {} is no place in {name}, which has {length} bytes",
            arguments.offset
        ))
        .with_hint("count bytes, not characters; an offset stands between two characters")
    })?;
    let request = TurnRequest {
        input,
        ..TurnRequest::task("")
    };
    let wanted = Wanted {
        profile: Some(Profile::COMPLETE),
        ..Wanted::default()
    };
    turn::run(context, interrupts, &wanted, request, false)
}

fn read(path: &Path) -> Result<String, CliError> {
    let failed = |what: &str| CliError::usage(format!("--file: {what}")).with_path(path);
    let mut bytes = Vec::new();
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    if path.exists() && !is_file {
        return Err(failed("this is no file"));
    }
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| failed("cannot read the file").with_source(error))?;
    if bytes.len() as u64 > LARGEST {
        let most = LARGEST / 1024 / 1024;
        return Err(failed(&format!("the file is larger than {most} MiB")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        failed(&format!("the file is not UTF-8 at byte {at}"))
            .with_hint("convert it first, for example with iconv")
    })
}
