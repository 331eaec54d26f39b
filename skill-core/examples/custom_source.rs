//! Skills of a kind of one's own: one for each line of a table.
//!
//! A source says what there is, opens what it said, and nothing else; precedence, visibility and
//! look-up are the catalogue's.
#![expect(clippy::print_stdout, reason = "the list is what this program is for")]

use std::io;
use std::sync::Arc;

use skill_core::{
    Candidate, Diagnostic, OpenedSkill, Principal, Resource, ScanLimits, Skill, SkillCatalog,
    SkillSource, SourceScan,
};

/// Skills in lines `id | description | body`.
#[derive(Debug)]
struct TableSource(&'static str);

impl TableSource {
    fn rows(&self) -> impl Iterator<Item = (Skill, &'static str)> {
        self.0.lines().filter_map(|line| {
            let (id, rest) = line.split_once('|')?;
            let (description, body) = rest.split_once('|')?;
            let mut skill = Skill::new(id.trim(), description.trim());
            // Any text that changes with the content will do.
            skill.content_digest = line.to_owned();
            Some((skill, body.trim()))
        })
    }
}

impl SkillSource for TableSource {
    fn scan(&self, _limits: &ScanLimits) -> SourceScan {
        let candidate = |(skill, _): (Skill, &str)| {
            Arc::new(Candidate {
                path: skill.path.clone(),
                real_path: None,
                skill: Some(Arc::new(skill)),
                yields: false,
                diagnostics: Vec::new(),
            })
        };
        SourceScan {
            candidates: self.rows().map(candidate).collect(),
            ..SourceScan::default()
        }
    }

    fn open(&self, skill: &Skill, _limits: &ScanLimits) -> io::Result<OpenedSkill> {
        let mut rows = self.rows();
        let (skill, body) = rows
            .find(|(row, _)| row.id == skill.id)
            .ok_or(io::ErrorKind::NotFound)?;
        Ok(OpenedSkill {
            body: body.to_owned(),
            truncated: false,
            content_digest: skill.content_digest,
        })
    }

    fn files(&self, _skill: &Skill, _limits: &ScanLimits) -> (Vec<String>, Vec<Diagnostic>) {
        Default::default()
    }

    fn read_file(&self, _skill: &Skill, _path: &str, _limits: &ScanLimits) -> io::Result<Resource> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = "greet | How to greet. | Say hello.\nleave | How to leave. | Say goodbye.\n";
    let catalog = SkillCatalog::new(vec![Arc::new(TableSource(table))], ScanLimits::default());
    let view = catalog.view(&Principal::default());
    for viewed in view.skills() {
        println!(
            "{}: {} — {}",
            viewed.skill.id,
            viewed.summary(),
            view.open(viewed)?.body
        );
    }
    Ok(())
}
