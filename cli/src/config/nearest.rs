//! The known name nearest to a wrong one.

/// Returns the name that was probably meant: few letters differ, or one name starts the other.
pub(super) fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let folded = fold(wrong);
    let distance = |name: &str| strsim::damerau_levenshtein(&folded, &fold(name));
    let best = names.iter().copied().min_by_key(|name| distance(name))?;
    let longest = folded.chars().count().max(best.chars().count());
    if distance(best) * 3 <= longest {
        return Some(best);
    }
    let related = |name: &&str| {
        let name = fold(name);
        folded.len() >= 3 && (name.starts_with(&folded) || folded.starts_with(&name))
    };
    names.iter().copied().find(related)
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace(['-', ' '], "_")
}

/// Returns the hint for a wrong name: the nearest, or all of them when they are few.
pub(super) fn hint(wrong: &str, names: &[&str]) -> Option<String> {
    if let Some(name) = nearest(wrong, names) {
        return Some(format!("did you mean `{name}`?"));
    }
    let few = !names.is_empty() && names.len() <= 12;
    few.then(|| format!("known here: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["model", "providers", "mcp_servers", "api_key_env", "limits"];

    #[test]
    fn a_slip_of_the_fingers_finds_its_name() {
        for (wrong, right) in [
            ("modle", "model"),
            ("Model", "model"),
            ("provider", "providers"),
            ("mcp-servers", "mcp_servers"),
            ("mcpServers", "mcp_servers"),
            ("api_key", "api_key_env"),
        ] {
            assert_eq!(nearest(wrong, NAMES), Some(right), "{wrong}");
        }
    }

    #[test]
    fn a_stranger_finds_none_and_the_hint_lists_what_there_is() {
        assert_eq!(nearest("zebra", NAMES), None);
        assert_eq!(
            hint("zebra", NAMES).unwrap(),
            "known here: model, providers, mcp_servers, api_key_env, limits"
        );
    }
}
