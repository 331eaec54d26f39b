//! Policies of a run. They restrict: one that cannot be read hides the skill from the model.

use std::time::Duration;

use super::{Part, scalar};
use crate::skill::fields::Reader;
use crate::skill::fields::access::Access;
use crate::skill::{Circuit, Policies, RateLimit, Retry};

pub(super) fn read(reader: &mut Reader<'_, '_>, access: &mut Access) -> Policies {
    let mut policies = Policies::default();
    let mut gate = Gate { reader, access };
    let lost = gate.reader.lost("policies");
    let Some(field) = gate.reader.take("policies") else {
        if lost {
            gate.close(None, "`policies` cannot be read");
        }
        return policies;
    };
    let part = Part::of(field);
    if part.node.is_null() {
        return policies;
    }
    match part.pairs().filter(|_| !field.damaged && !lost) {
        None => gate.close(Some(part), "`policies` is not a map of policies"),
        Some(pairs) => {
            for (key, part) in pairs {
                gate.policy(&mut policies, key, part);
            }
        }
    }
    policies
}

struct Gate<'g, 'd, 'f> {
    reader: &'g mut Reader<'d, 'f>,
    access: &'g mut Access,
}

impl Gate<'_, '_, '_> {
    fn policy(&mut self, policies: &mut Policies, key: &str, part: Part<'_>) {
        let text = part.text().unwrap_or_default();
        match key {
            "timeout" => match scalar::duration(text) {
                Some(timeout) if timeout > Policies::LONGEST_TIMEOUT => {
                    policies.timeout = Policies::LONGEST_TIMEOUT;
                    part.reject(
                        self.reader.findings,
                        "the timeout is over 10m, which is taken",
                    );
                }
                Some(timeout) => policies.timeout = timeout,
                None => self.close(Some(part), "`timeout` is no time such as `30s`"),
            },
            "rate_limit" => match scalar::rate(text) {
                Some((count, per)) => policies.rate_limit = Some(RateLimit { count, per }),
                None => self.close(Some(part), "`rate_limit` is no rate such as `60/min`"),
            },
            "retry" => match retry(part) {
                Some(retry) => policies.retry = Some(retry),
                // A retry grants attempts; one that cannot be read grants none.
                None => part.reject(
                    self.reader.findings,
                    "`retry` cannot be read; nothing is retried",
                ),
            },
            "circuit" => match circuit(part) {
                Some(circuit) => policies.circuit = Some(circuit),
                None => self.close(Some(part), "`circuit` is not `{failures, open}`"),
            },
            "requires_approval" => match part.node.typed().as_bool() {
                Some(needed) => policies.requires_approval = needed,
                None => {
                    policies.requires_approval = true;
                    self.close(
                        Some(part),
                        "`requires_approval` is neither `true` nor `false`",
                    );
                }
            },
            "secrets" => match scalar::texts(part.node) {
                Some(secrets) => policies.secrets = secrets,
                None => part.reject(
                    self.reader.findings,
                    "`secrets` is no list of names; it grants none",
                ),
            },
            "roles" => self.names(part, "roles"),
            "contexts" => self.names(part, "contexts"),
            _ => self.close(Some(part), &format!("`{key}` is no policy")),
        }
    }

    /// Takes roles or contexts, which may have been given at the top of the file, too.
    fn names(&mut self, part: Part<'_>, key: &str) {
        let Some(names) = scalar::texts(part.node) else {
            return self.close(Some(part), &format!("`{key}` is no list of names"));
        };
        let held = match key {
            "roles" => &mut self.access.roles,
            _ => &mut self.access.contexts,
        };
        if held.is_empty() {
            *held = names;
        } else if !names.is_empty() && *held != names {
            self.close(Some(part), &format!("`{key}` is given twice, not alike"));
        }
    }

    fn close(&mut self, part: Option<Part<'_>>, what: &str) {
        self.access.model = false;
        let message = format!("{what}; the model does not see the skill");
        let text = part.map(|part| part.node.value().to_string());
        let place = part.and_then(Part::place);
        let added = self.reader.findings.add("SK101", place, message);
        added.text(text.as_deref().unwrap_or_default());
    }
}

fn retry(part: Part<'_>) -> Option<Retry> {
    let mut retry = Retry::default();
    for (key, part) in part.pairs()? {
        let text = part.text().unwrap_or_default();
        match key {
            "max_attempts" => retry.max_attempts = positive(text)?,
            "initial" => retry.initial = scalar::duration(text)?,
            "max" => retry.max = scalar::duration(text)?,
            "factor" => {
                retry.factor = text
                    .parse()
                    .ok()
                    .filter(|factor| (1.0..=100.0).contains(factor))?
            }
            "on" => retry.on = scalar::texts(part.node)?,
            _ => return None,
        }
    }
    Some(retry)
}

fn circuit(part: Part<'_>) -> Option<Circuit> {
    let mut circuit = Circuit::default();
    for (key, part) in part.pairs()? {
        let text = part.text().unwrap_or_default();
        match key {
            "failures" => circuit.failures = positive(text)?,
            "open" => circuit.open = scalar::duration(text)?,
            "open_ms" => circuit.open = Duration::from_millis(u64::from(positive(text)?)),
            _ => return None,
        }
    }
    Some(circuit)
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count > 0)
}
