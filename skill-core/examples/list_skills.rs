//! Lists the skills below the folders named on the command line.
#![expect(clippy::print_stdout, reason = "the list is what this program is for")]

use skill_core::{Principal, Root, ScanLimits, Scope, SkillCatalog};

fn main() {
    let roots: Vec<Root> = std::env::args_os()
        .skip(1)
        .map(|path| Root::new(path, Scope::Flag))
        .collect();
    let catalog = SkillCatalog::scan(&roots, &ScanLimits::default());
    for viewed in catalog.view(&Principal::default()).skills() {
        println!("{}: {}", viewed.skill.id, viewed.skill.summary());
    }
}
