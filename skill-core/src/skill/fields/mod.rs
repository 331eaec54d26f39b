//! Keys to fields: each coerced by one rule, and what was odd about it written down.

mod access;
mod declared;
mod identity;
mod text;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::skill::document::{Document, Field};
use crate::skill::findings::{Findings, Place};
use crate::skill::keys::{self, normal};
use crate::skill::parse::Origin;
use crate::skill::requirements::has_no_twins;
use crate::skill::restricting::unescaped;
use crate::skill::yaml::{Kind, Node};
use crate::skill::{Invocation, LoadMode, Requirements, Skill, SkillFormat, SkillId, requirements};

/// The description of a lite skill that has none.
const NO_DESCRIPTION: &str = "No description provided.";

/// Returns the record that `document` declares.
///
/// `complete` says that the frontmatter is whole; if it is not, what it lacks is no finding.
pub(crate) fn skill(
    document: &Document<'_>,
    origin: &Origin,
    complete: bool,
    findings: &mut Findings,
) -> Skill {
    let mut reader = Reader::new(document, findings);
    reader.aliases();
    reader.outside_standard(origin.format);
    let identity = identity::read(&mut reader, origin, complete);
    let description = text::description(&mut reader, complete, origin.format);
    let listed = !description.is_empty() || origin.format == SkillFormat::Lite;
    let mut access = access::read(&mut reader);
    let declaration = (origin.format == SkillFormat::Declared)
        .then(|| Box::new(declared::read(&mut reader, &mut access)));
    let metadata = text::metadata(&mut reader, origin.format);
    let requires = required(&mut reader, &metadata, &mut access);
    let mut skill = Skill {
        format: origin.format,
        scope: origin.scope,
        aliases: identity.aliases,
        load: load(&mut reader, &metadata),
        when_to_use: text::when_to_use(&mut reader),
        version: reader.optional("version"),
        author: reader.optional("author"),
        tags: reader.names("tags"),
        license: reader.optional("license"),
        compatibility: reader.optional("compatibility"),
        allowed_tools: text::allowed_tools(&mut reader),
        metadata,
        requires,
        groups: access.groups,
        roles: access.roles,
        contexts: access.contexts,
        paths: access.paths,
        restrict_tools: access.restrict_tools,
        disallowed_tools: access.disallowed_tools,
        invocation: Invocation {
            model: access.model,
            user: access.user,
        },
        listed,
        declaration,
        ..Skill::of(
            SkillId::from_text(identity.id),
            identity.name,
            description,
            origin.path.clone(),
        )
    };
    if skill.description.is_empty() && origin.format == SkillFormat::Lite {
        NO_DESCRIPTION.clone_into(&mut skill.description);
    }
    about(&mut skill);
    skill.other = reader.rest();
    skill
}

/// Fills in what a file says about itself below `metadata`, as the standard's example and
/// `skill.yaml` have it; a key of its own beats that.
fn about(skill: &mut Skill) {
    let text = |key: &str| skill.metadata.get(key).and_then(Value::as_str);
    let own = |key: &str| {
        let text = text(key).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (version, author, updated) = (own("version"), own("author"), own("updated"));
    if skill.tags.is_empty()
        && let Some(Value::Array(list)) = skill.metadata.get("tags")
    {
        let tags = list.iter().filter_map(Value::as_str);
        skill.tags = tags.map(str::to_owned).collect();
    }
    skill.version = skill.version.take().or(version);
    skill.author = skill.author.take().or(author);
    if let Some(declaration) = &mut skill.declaration {
        declaration.updated = updated;
    }
}

/// Returns what `metadata` requires of the machine; what cannot be understood closes, like every
/// other restriction.
fn required(
    reader: &mut Reader<'_, '_>,
    metadata: &Value,
    access: &mut access::Access,
) -> Option<Box<Requirements>> {
    let (requires, mut sound) = requirements::read(metadata);
    let fields = reader.all("metadata");
    sound &= fields.iter().all(|field| {
        // Of two, the last counts; what the other asks for must not be lost.
        requirements::is_clear(&field.value)
            && (fields.len() == 1 || requirements::read(&field.value.value()).0 == requires)
    });
    if !sound || reader.lost_text_holds("requires") {
        access.model = false;
        let place = reader.take("metadata").and_then(Field::place);
        let message =
            "what `metadata` requires could not be read; the model does not see the skill";
        let fix = "write lists of names below `requires`: `bins`, `anyBins`, `env`, `os`";
        reader.findings.add("SK101", place, message).fix(fix);
    }
    (!requires.is_empty()).then(|| Box::new(requires))
}

/// Returns how the skill is loaded: always only where that is said beyond doubt, by a key of its
/// own or, as the standard leaves no other place, below `metadata`.
///
/// A key that says otherwise takes it back.
fn load(reader: &mut Reader<'_, '_>, metadata: &Value) -> LoadMode {
    let is_always = |text: &str| text.trim().eq_ignore_ascii_case("always");
    let is_true =
        |text: &str| ["true", "yes", "1"].contains(&text.trim().to_ascii_lowercase().as_str());
    let mode = reader.granting("mode", |node| node.text().map(is_always));
    let always = reader.granting("always", |node| node.text().map(is_true));
    let below = metadata.get("mode").and_then(Value::as_str).map(is_always);
    let clear = below != Some(true) || reader.is_clear("metadata");
    let said: Vec<bool> = [mode, always, below].into_iter().flatten().collect();
    if !clear || (said.contains(&true) && said.contains(&false)) {
        let message = "`always` is not said clearly, or taken back; the skill is not always on";
        reader.findings.add("SK053", None, message);
    }
    if clear && !said.is_empty() && said.iter().all(|always| *always) {
        LoadMode::Always
    } else {
        LoadMode::Lazy
    }
}

/// Hands out fields by key, the last of those with one key, and remembers what was taken.
pub(crate) struct Reader<'d, 'f> {
    document: &'d Document<'d>,
    keys: Vec<Cow<'d, str>>,
    taken: Vec<bool>,
    pub(crate) findings: &'f mut Findings,
}

impl<'d, 'f> Reader<'d, 'f> {
    fn new(document: &'d Document<'d>, findings: &'f mut Findings) -> Self {
        let keys: Vec<Cow<'d, str>> = document
            .fields
            .iter()
            .map(|field| match &*field.key {
                // These two are the standard's, which writes them in lower case.
                "name" | "description" => Cow::Borrowed(&*field.key),
                other => match normal(other) {
                    normal if matches!(&*normal, "name" | "description") => Cow::Borrowed(other),
                    normal => normal,
                },
            })
            .collect();
        let mut reader = Self {
            taken: vec![false; keys.len()],
            document,
            keys,
            findings,
        };
        reader.duplicates();
        reader
    }

    /// Reports keys that occur more than once; the last one counts.
    fn duplicates(&mut self) {
        // A map pays off for files that were made to have many keys only.
        let few = self.keys.len() <= 32;
        let mut last = HashMap::with_capacity(if few { 0 } else { self.keys.len() });
        for (at, (key, field)) in self.keys.iter().zip(&self.document.fields).enumerate() {
            let before = if few {
                self.keys.iter().take(at).rposition(|known| known == key)
            } else {
                last.insert(&**key, at)
            };
            if let Some(before) = before {
                if let Some(taken) = self.taken.get_mut(before) {
                    *taken = true;
                }
                self.findings
                    .add(
                        "SK022",
                        field.place(),
                        format!("`{}` occurs twice; the last one counts", field.key),
                    )
                    .fix("keep one of them");
            }
        }
    }

    fn aliases(&mut self) {
        let mut fields = self.document.fields.iter();
        if let Some(field) = fields.find(|field| field.value.has_alias()) {
            self.findings.add(
                "SK024",
                field.place(),
                format!(
                    "`{}` refers to an anchor; aliases are not followed",
                    field.key
                ),
            );
        }
    }

    /// Reports the keys that a reader of the standard alone may refuse.
    fn outside_standard(&mut self, format: SkillFormat) {
        for (field, normal) in self.document.fields.iter().zip(&self.keys) {
            let known = keys::STANDARD.contains(&&*field.key);
            let (known, of) = match format {
                SkillFormat::Package => (known, "the standard"),
                SkillFormat::Declared => {
                    let own = declared::KEYS.contains(&&**normal);
                    (known || own, "`skill.yaml`")
                }
                _ => return,
            };
            if !known {
                let message = format!("`{}` is no key of {of}", field.key);
                self.findings.add("SK052", field.place(), message);
            }
        }
    }

    /// Returns the last field with `key`, given in its normal spelling.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'d Field<'d>> {
        let at = self.keys.iter().rposition(|known| known == key)?;
        if let Some(taken) = self.taken.get_mut(at) {
            *taken = true;
        }
        self.document.fields.get(at)
    }

    /// Returns every field with `key`, in the order of the file.
    pub(crate) fn all(&self, key: &str) -> Vec<&'d Field<'d>> {
        let fields = self.keys.iter().zip(&self.document.fields);
        fields
            .filter(|(known, _)| *known == key)
            .map(|(_, field)| field)
            .collect()
    }

    /// Tells whether none of `keys` was there, readable or not.
    pub(crate) fn has_none(&self, keys: &[&str]) -> bool {
        self.document.lost.is_empty() && !self.keys.iter().any(|key| keys.contains(&&**key))
    }

    /// Tells whether a value of `key` was there and could not be read.
    pub(crate) fn lost(&self, key: &str) -> bool {
        self.lost_place(key).is_some()
    }

    /// Returns where a value of `key` stands that could not be read.
    fn lost_place(&self, key: &str) -> Place {
        let mut lost = self.document.lost.iter();
        lost.find(|lost| normal(&lost.key) == key)
            .map(|lost| (lost.line, lost.column))
    }

    /// Tells whether what was left out of the file mentions `word`.
    fn lost_text_holds(&self, word: &str) -> bool {
        self.document
            .lost
            .iter()
            .any(|lost| unescaped(lost.text).to_lowercase().contains(word))
    }

    /// Returns the text of `key`; another kind of value is reported and left in the rest.
    fn optional(&mut self, key: &str) -> Option<String> {
        let field = self
            .document
            .fields
            .get(self.keys.iter().rposition(|known| known == key)?)?;
        if let Kind::Scalar { .. } = field.value.kind {
            self.take(key);
            return field.value.text().map(|text| text.trim().to_owned());
        }
        None
    }

    /// Returns the names of `key`: a list of them, or one text with commas between.
    fn names(&mut self, key: &str) -> Vec<String> {
        self.take(key)
            .and_then(|field| text::names(&field.value))
            .unwrap_or_default()
    }

    /// Returns what a granting key says, if nothing about it was mended and it says that every time
    /// it is there.
    fn granting<T: Default + PartialEq>(
        &mut self,
        key: &str,
        read: impl Fn(&Node<'_>) -> Option<T>,
    ) -> Option<T> {
        let field = self.take(key)?;
        let fields = self.all(key);
        let said = read(&field.value);
        let clear = |field: &&Field<'_>| !field.damaged && read(&field.value) == said;
        if self.lost(key) || !fields.iter().all(clear) {
            let message = format!("`{}` was not written clearly and grants nothing", field.key);
            self.findings.add("SK053", field.place(), message);
            return Some(T::default());
        }
        said
    }

    /// Tells whether a value of `key` was written clearly, so that it can grant something.
    fn is_clear(&self, key: &str) -> bool {
        let fields = self.all(key);
        let clear = |field: &&Field<'_>| !field.damaged && has_no_twins(&field.value);
        fields.len() == 1 && fields.iter().all(clear) && !self.lost(key)
    }

    /// Returns what was not taken.
    fn rest(self) -> Map<String, Value> {
        self.document
            .fields
            .iter()
            .zip(&self.taken)
            .filter(|(_, taken)| !**taken)
            .map(|(field, _)| (field.key.to_string(), field.value.value()))
            .collect()
    }
}
