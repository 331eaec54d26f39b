//! The least that a program can do to get a streamed completion: the baseline of the benchmarks.
//!
//! `baseline_client URL [N] [lean|default]` posts one chat completion to `URL/chat/completions`,
//! reads its stream to the end, and repeats that N times, one after the other, over one client. It
//! uses nothing of this crate. `lean` (what is taken when nothing is said) loads no certificates,
//! like the crate for a plain address; `default` is the client as reqwest builds it unasked, which
//! costs several times as much and so is easier to keep up with.

#![expect(clippy::print_stdout, reason = "a program talks")]

use std::error::Error;
use std::sync::Arc;

use reqwest::Client;
use rustls::{ClientConfig, RootCertStore};

const BODY: &str =
    r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}],"stream":true}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let base_url = arguments
        .next()
        .ok_or("usage: baseline_client URL [N] [lean|default]")?;
    let count: u32 = arguments.next().map_or(Ok(1), |count| count.parse())?;
    let client = match arguments.next().as_deref() {
        None | Some("lean") => lean()?,
        Some(_) => default()?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let bytes = runtime.block_on(run(&client, &format!("{base_url}/chat/completions"), count))?;
    println!("{count} completions, {bytes} bytes");
    Ok(())
}

fn lean() -> Result<Client, Box<dyn Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .build()?)
}

fn default() -> Result<Client, Box<dyn Error>> {
    // Without the provider that its feature leaves out, reqwest panics.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Client::builder().build()?)
}

async fn run(client: &Client, url: &str, count: u32) -> Result<usize, Box<dyn Error>> {
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
