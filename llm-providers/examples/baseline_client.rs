//! The least that a program can do to get a streamed completion: the baseline of the benchmarks.
//!
//! `baseline_client URL [N]` posts one chat completion to `URL/chat/completions`, reads its stream
//! to the end, and repeats that N times, one after the other, over one client. It uses nothing of
//! this crate. Like the crate, it loads no certificates for a plain address: a baseline that did
//! would be easier to keep up with.

#![expect(clippy::print_stdout, reason = "a program talks")]

use std::error::Error;
use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

const BODY: &str =
    r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}],"stream":true}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let base_url = arguments.next().ok_or("usage: baseline_client URL [N]")?;
    let count: u32 = arguments.next().map_or(Ok(1), |count| count.parse())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let bytes = runtime.block_on(run(&format!("{base_url}/chat/completions"), count))?;
    println!("{count} completions, {bytes} bytes");
    Ok(())
}

async fn run(url: &str, count: u32) -> Result<usize, Box<dyn Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .build()?;
    let mut bytes = 0;
    for _ in 0..count {
        let request = client
            .post(url)
            .header("content-type", "application/json")
            .body(BODY);
        let mut response = request.send().await?.error_for_status()?;
        while let Some(chunk) = response.chunk().await? {
            bytes += chunk.len();
        }
    }
    Ok(bytes)
}
