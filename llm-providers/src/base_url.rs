//! The address below which a provider answers: one rule for what may be one, and for what stays on
//! this machine.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// The address below which a provider answers, such as `http://127.0.0.1:8080/v1`.
///
/// A query is kept and sent, since some servers want a version there; as others want a key there,
/// it is never shown.
///
/// ```
/// use llm_providers::BaseUrl;
///
/// let url: BaseUrl = "http://127.0.0.1:8080/v1/?key=k".parse()?;
/// assert_eq!(url.to_string(), "http://127.0.0.1:8080/v1/");
/// assert_eq!(url.local_address().as_deref(), Some("127.0.0.1:8080"));
/// # Ok::<(), llm_providers::BaseUrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// A text that is no address of a provider; says why, and never repeats it, as it may hold a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address {reason}")]
pub struct BaseUrlError {
    /// What is wrong, as the end of a sentence about the address.
    pub reason: &'static str,
}

impl BaseUrl {
    /// Returns the whole address, its query included: for sending, not for showing.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Tells whether it stays on this machine.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.0)
    }

    /// Returns host and port, where it stays on this machine.
    pub fn local_address(&self) -> Option<String> {
        let (host, port) = (self.0.host_str()?, self.0.port_or_known_default()?);
        self.is_local().then(|| format!("{host}:{port}"))
    }

    /// Tells whether there is a query, which [`fmt::Display`] leaves out.
    pub fn has_query(&self) -> bool {
        self.0.query().is_some()
    }

    pub(crate) fn into_url(self) -> Url {
        self.0
    }
}

impl FromStr for BaseUrl {
    type Err = BaseUrlError;

    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        let wrong = |reason| Err(BaseUrlError { reason });
        let Ok(url) = Url::parse(text.trim()) else {
            return wrong("is no URL");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("is neither http nor https");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("holds a user name or password; give the key apart");
        }
        if url.fragment().is_some() {
            return wrong("holds a `#`");
        }
        Ok(Self(url))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&display(&self.0))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BaseUrl({self})")
    }
}

/// Tells whether `url` stays on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Appends `path` to the path of `base`, once; a query is kept.
pub(crate) fn with_path(mut base: Url, path: &str) -> Url {
    let prefix = base.path().trim_end_matches('/').to_owned();
    if !prefix.ends_with(path) {
        base.set_path(&format!("{prefix}/{path}"));
    }
    base
}

/// Returns `url` without its query, in which some servers expect a key.
pub(crate) fn display(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::{BaseUrl, display, with_path};

    fn url(text: &str) -> BaseUrl {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_on_this_machine_is_told_from_names_that_only_look_like_it() {
        for (text, address) in [
            ("http://127.0.0.1:1/v1", "127.0.0.1:1"),
            ("http://localhost", "localhost:80"),
            ("https://localhost/v1?x=1", "localhost:443"),
            ("http://[::1]:8/", "[::1]:8"),
            ("http://127.9.9.9", "127.9.9.9:80"),
            ("http://127.1:9", "127.0.0.1:9"),
        ] {
            assert_eq!(
                url(text).local_address().as_deref(),
                Some(address),
                "{text}"
            );
        }
        for text in [
            "http://localhost.example.com",
            "http://10.0.0.1",
            "https://127.0.0.1.example.com",
        ] {
            assert_eq!(url(text).local_address(), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_an_address_is_refused_unquoted() {
        for text in [
            "a.com/v1",
            "localhost:8080/v1",
            "https://",
            "http://a b",
            "ftp://a.test",
            "https://user:hunter2@a.test/v1",
            "http://a.test/#x",
        ] {
            let error = text.parse::<BaseUrl>().unwrap_err().to_string();
            assert!(
                !error.contains("hunter2") && error.starts_with("the address "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_query_is_sent_and_never_shown() {
        let url = url("http://a.test/v1?api-version=2");
        assert_eq!(
            format!("{url} {url:?}"),
            "http://a.test/v1 BaseUrl(http://a.test/v1)"
        );
        let whole = with_path(url.into_url(), "chat/completions");
        assert_eq!(
            whole.as_str(),
            "http://a.test/v1/chat/completions?api-version=2"
        );
        assert_eq!(display(&whole), "http://a.test/v1/chat/completions");
    }

    #[test]
    fn the_path_is_added_once() {
        let expected = "http://a.test/v1/chat/completions";
        for text in ["http://a.test/v1", "http://a.test/v1/", expected] {
            assert_eq!(
                with_path(url(text).into_url(), "chat/completions").as_str(),
                expected
            );
        }
    }
}
