//! Values: what their text may be.

use super::*;

#[test]
fn a_model_is_offline_or_has_a_provider_before_its_first_slash() {
    let remote = |provider: &str, model: &str| ModelChoice::Remote {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    assert_eq!("offline".parse(), Ok(ModelChoice::Offline));
    assert_eq!("openai/gpt-4o".parse(), Ok(remote("openai", "gpt-4o")));
    assert_eq!(
        "router/meta/llama".parse(),
        Ok(remote("router", "meta/llama"))
    );
    for wrong in ["gpt-4o", "openai/", "/gpt", "", "a b/c", "openai/gpt 4"] {
        assert!(wrong.parse::<ModelChoice>().is_err(), "{wrong}");
    }
}

#[test]
fn an_address_is_what_the_provider_takes_for_one_and_its_query_is_hidden() {
    let url: BaseUrl = "http://a:1/v1?key=hunter2".parse().unwrap();
    assert_eq!(url.as_str(), "http://a:1/v1?key=hunter2");
    assert_eq!(url.to_string(), "http://a:1/v1?(hidden)");
    for wrong in ["a.com/v1", "https://u:hunter2@a.com", "http://a b"] {
        let message = wrong.parse::<BaseUrl>().unwrap_err();
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn a_key_in_the_place_of_a_variable_is_refused_and_not_repeated() {
    assert_eq!(
        "OPENAI_API_KEY"
            .parse::<EnvironmentName>()
            .unwrap()
            .as_str(),
        "OPENAI_API_KEY"
    );
    let message = "sk-abc123".parse::<EnvironmentName>().unwrap_err();
    assert!(!message.contains("abc123"), "{message}");
}

#[test]
fn a_rule_has_an_effect_a_capability_and_a_pattern() {
    let rule: PolicyRule = "deny  delete(**)".parse().unwrap();
    assert_eq!(rule.to_string(), "deny delete(**)");
    for wrong in [
        "delete(**)",
        "allow",
        "allow write",
        "allow (x)",
        "allow write(x",
        "Allow a(b)",
    ] {
        assert!(wrong.parse::<PolicyRule>().is_err(), "{wrong}");
    }
}

#[test]
fn a_time_has_units_and_is_not_zero() {
    let seconds = |text: &str| text.parse::<WallTime>().unwrap().duration().as_secs_f64();
    assert_eq!(seconds("90s"), 90.0);
    assert_eq!(seconds("1h30m"), 5_400.0);
    assert_eq!(seconds("1500ms"), 1.5);
    for wrong in [
        "",
        "10",
        "m",
        "0s",
        "10 m",
        "1d",
        "99999999999999999999s",
        "18446744073709551615h",
    ] {
        assert!(wrong.parse::<WallTime>().is_err(), "{wrong}");
    }
}

#[test]
fn hidden_text_is_shown_nowhere() {
    let hidden: Hidden = serde_json::from_str("\"token\"").unwrap();
    assert_eq!(
        format!("{hidden:?} {}", serde_json::to_string(&hidden).unwrap()),
        "(hidden) \"(hidden)\""
    );
}
