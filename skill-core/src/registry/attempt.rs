//! One attempt to change the registry, recorded whatever comes of it.

use crate::registry::{
    AuditAction, AuditOutcome, AuditRecord, Authority, Registry, RegistryError, RegistryErrorKind,
};

/// One attempt, to be recorded whatever comes of it.
pub(super) struct Attempt<'a> {
    registry: &'a Registry,
    actor: String,
    action: AuditAction,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        authority: &Authority<'_>,
        action: AuditAction,
    ) -> Self {
        Self {
            registry,
            actor: authority.to_string(),
            action,
        }
    }

    pub(super) fn record(
        &self,
        subject: &str,
        digest: Option<String>,
        outcome: AuditOutcome,
        reason: Option<String>,
    ) -> Result<(), RegistryError> {
        let record = AuditRecord {
            at_ms: self.registry.clock.now_ms(),
            actor: self.actor.clone(),
            action: self.action,
            subject: subject.to_owned(),
            digest,
            outcome,
            reason,
        };
        self.registry
            .audit
            .record(&record)
            .map_err(|error| RegistryError {
                source: Some(Box::new(error)),
                ..RegistryError::new(subject, RegistryErrorKind::Audit)
            })
    }

    pub(super) fn refused(&self, subject: &str) -> RegistryError {
        self.record(subject, None, AuditOutcome::Refused, None)
            .err()
            .unwrap_or_else(|| RegistryError::new(subject, RegistryErrorKind::Refused))
    }

    pub(super) fn conflict(&self, subject: &str, digest: Option<String>) -> RegistryError {
        self.record(subject, digest, AuditOutcome::Conflict, None)
            .err()
            .unwrap_or_else(|| RegistryError::new(subject, RegistryErrorKind::Conflict))
    }

    pub(super) fn failed(&self, error: RegistryError, digest: Option<String>) -> RegistryError {
        let reason = Some(error.to_string());
        self.record(&error.subject, digest, AuditOutcome::Failed, reason)
            .err()
            .unwrap_or(error)
    }
}
