//! Presets give the texts of their documents, byte for byte.

use prompt_compiler::{CompileCache, Opening, Placement, Preset, TokenCounter};
use skill_core::{LoadMode, Message};

use crate::support::{Case, entry, group, section, text};

/// Counts the word `tok`, so that sizes can be given by hand.
#[derive(Debug)]
struct CountingWords;

impl TokenCounter for CountingWords {
    fn count(&self, text: &str) -> u64 {
        text.split_whitespace()
            .filter(|word| *word == "tok")
            .count() as u64
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn basis(&self) -> String {
        "words".into()
    }
}

/// Returns a prompt of ten skills, of which the first so many are always on, in tokens of the
/// block of bodies and of the index.
fn arithmetic(always: usize) -> (u64, u64) {
    let mut case = Case::new("yolo", vec![Message::user("hi")]);
    for number in 0..10 {
        let id = format!("skill-{number}");
        if number < always {
            case.skills.always.push(text(&id, &"tok ".repeat(2_000)));
        }
        let load = if number < always {
            LoadMode::Always
        } else {
            LoadMode::Lazy
        };
        case.skills
            .visible
            .push(entry(&id, &"tok ".repeat(50), load));
    }
    let prompt = case
        .with(&CountingWords, &mut CompileCache::default())
        .unwrap();
    let words = |blocks: &[String]| blocks.iter().map(|block| CountingWords.count(block)).sum();
    let (bodies, index): (Vec<String>, Vec<String>) = prompt
        .request
        .system
        .iter()
        .cloned()
        .partition(|block| block.starts_with("<always_on_skills>"));
    // A system block costs one token more than its text, for what joins it to the next.
    assert_eq!(section(&prompt, "always").given, words(&bodies) + 1);
    (words(&bodies), words(&index))
}

#[test]
fn one_skill_always_on_and_nine_described_cost_2450_tokens_and_ten_always_on_cost_20000() {
    assert_eq!(arithmetic(1), (2_000, 450));
    assert_eq!(arithmetic(10), (20_000, 0));
}

#[test]
fn yolo_writes_lazy_skills_as_lines_and_always_skills_as_bodies() {
    let mut case = Case::new("yolo", vec![Message::user("hi")]);
    case.instructions = "BASE".into();
    case.skills.visible = vec![
        entry("obsidian-output-format", "Formats.", LoadMode::Always),
        entry("weekly-work-plan", "Create plans.", LoadMode::Lazy),
    ];
    case.skills.visible[1].name = "Weekly Work Plan".into();
    case.skills.always = vec![text("obsidian-output-format", "BODY")];
    assert_eq!(
        case.compile().unwrap().request.system,
        [
            "BASE",
            "<always_on_skills><skill id=\"obsidian-output-format\" name=\"obsidian-output-format\">\n\
             BODY\n</skill></always_on_skills>",
            "<available_skills>\n\
             - id: weekly-work-plan | name: Weekly Work Plan | description: Create plans.\n\
             </available_skills>",
        ]
    );
}

#[test]
fn trpc_writes_base_prompt_index_and_loaded_skills_with_a_blank_line_between() {
    let mut case = Case::new("trpc", vec![Message::user("go")]);
    case.instructions = "BASE".into();
    case.skills.visible = vec![
        entry("code-review", "代码审查技能", LoadMode::Lazy),
        entry("data-analysis", "数据分析技能", LoadMode::Lazy),
    ];
    let mut review = text("code-review", "## 审查指南\nGUIDE");
    review.docs = vec![
        ("a.md".into(), "A".into()),
        ("guide.md".into(), "G\n".into()),
    ];
    case.skills.loaded = vec![review, text("data-analysis", "BODY\n")];
    let system = case.compile().unwrap().request.system.join("\n\n");
    assert_eq!(
        system,
        "BASE\n\nAvailable skills:\n- code-review: 代码审查技能\n- data-analysis: 数据分析技能\n\n\
         [Loaded] code-review\n\n## 审查指南\nGUIDE\n\nDocs loaded: a.md, guide.md\n\
         [Doc] a.md\nA\n\n[Doc] guide.md\nG\n\n\
         [Loaded] data-analysis\n\nBODY\n\nDocs loaded: none"
    );
}

#[test]
fn trpc_without_base_prompt_begins_with_the_index() {
    let mut case = Case::new("trpc", vec![Message::user("go")]);
    case.skills.visible = vec![entry("calc", "does sums", LoadMode::Lazy)];
    assert_eq!(
        case.compile().unwrap().request.system,
        ["Available skills:\n- calc: does sums"]
    );
}

#[test]
fn halfpi_aligns_names_in_columns_with_always_skills_first() {
    let mut case = Case::new("halfpi", vec![Message::user("go")]);
    case.skills.visible = vec![
        entry("go-patterns", "Go coding patterns", LoadMode::Lazy),
        entry("deploy-flow", "Standard deploy flow", LoadMode::Lazy),
        entry("周报", "写周报", LoadMode::Lazy),
        entry(
            "conventions",
            "Project coding conventions",
            LoadMode::Always,
        ),
    ];
    assert_eq!(
        case.compile().unwrap().request.system,
        ["可用技能：\n\
          \x20 conventions          — Project coding conventions [始终激活]\n\
          \x20 deploy-flow          — Standard deploy flow\n\
          \x20 go-patterns          — Go coding patterns\n\
          \x20 周报                 — 写周报"]
    );
}

#[test]
fn a_preset_opens_skills_with_its_own_tool_and_answers_in_its_own_words() {
    let words = |name: &str| {
        let tools = Preset::built_in(name).unwrap().tools;
        let spelling = tools.spelling.map(|one| (one.argument, one.not_found));
        (tools.open, spelling)
    };
    let spelled = |argument: &str, not_found: &str| Some((argument.into(), not_found.into()));
    assert_eq!(words("default"), ("open_skill".into(), None));
    assert_eq!(words("yolo"), ("open_skill".into(), None));
    let trpc = spelled("skill", "error: skill not found");
    assert_eq!(words("trpc"), ("skill_load".into(), trpc));
    let halfpi = spelled("name", "skill not found: {name}");
    assert_eq!(words("halfpi"), ("view_skill".into(), halfpi));
}

#[test]
fn from_fifty_visible_skills_on_auto_lists_none_and_keeps_the_always_block() {
    for preset in ["default", "halfpi"] {
        let mut case = Case::new(preset, vec![Message::user("go")]);
        case.skills.always = vec![text("rules", "RULES")];
        case.skills.visible = vec![entry("rules", "", LoadMode::Always)];
        let lazy = (1..49).map(|number| entry(&format!("lazy-{number}"), "x", LoadMode::Lazy));
        case.skills.visible.extend(lazy);
        let system = case.compile().unwrap().request.system.join("\n");
        assert!(
            system.contains("lazy-48") && system.contains("RULES"),
            "{system}"
        );
        case.skills
            .visible
            .push(entry("lazy-49", "x", LoadMode::Lazy));
        let system = case.compile().unwrap().request.system.join("\n");
        assert!(
            !system.contains("lazy-") && system.contains("RULES"),
            "{system}"
        );
        assert!(system.contains("`list_skills`"), "{system}");
    }
}

#[test]
fn residency_and_placement_cross_without_a_trace_of_what_is_not_open() {
    for preset in ["default", "yolo", "trpc", "halfpi"] {
        for placement in [Placement::System, Placement::ToolResult] {
            let opened = group("1", "{}", "loaded: calc").to_vec();
            let mut case = Case::new(preset, [vec![Message::user("go")], opened].concat());
            case.preset.placement = placement;
            let skill = text("calc", "SECRET BODY");
            let opening = Opening {
                skill: "calc".into(),
                digest: skill.digest.clone(),
            };
            case.skills.openings.insert("1".into(), opening);
            case.skills.loaded = vec![skill];
            let count = |case: &Case| {
                let request = case.compile().unwrap().request;
                serde_json::to_string(&request)
                    .unwrap()
                    .matches("SECRET BODY")
                    .count()
            };
            assert_eq!(count(&case), 1, "{preset} {placement:?}");
            case.messages.truncate(1);
            assert_eq!(
                count(&case),
                1,
                "{preset} {placement:?}, its result is gone"
            );
            case.skills.loaded.clear();
            assert_eq!(count(&case), 0, "{preset} {placement:?}, not open");
        }
    }
}
