//! How much of a program a rule has to spell out, and which programs stand behind others.

use super::*;

fn argv(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn most_programs_are_allowed_by_their_name_and_the_start_of_their_arguments() {
    for line in [
        "ls -la",
        "cat a",
        "find . -name *.rs",
        "sort a",
        "rg --hidden x",
        "sed -n 3,7p a",
        "grep -r x .",
        "cargo test",
        "tar -tf a.tar",
    ] {
        assert_eq!(words_needed(&argv(line)), 1, "{line}");
    }
    assert_eq!(words_needed(&argv("git status --short")), 2);
    assert_eq!(words_needed(&argv("git --no-pager log -3")), 3);
    assert_eq!(words_needed(&argv("python3.11 build.py --fast")), 2);
}

#[test]
fn what_can_run_anything_has_to_be_spelt_out_to_the_end() {
    for line in [
        "bash -c ls",
        "sh -lc ls",
        "python3 -c print(1)",
        "python3 -m http.server",
        "node -e 1",
        "perl -e 1",
        "bash",
        "env ls",
        "timeout 5 ls",
        "xargs rm",
        "awk BEGIN{system(\"x\")}",
        "sed 1e\u{20}touch f",
        "sed -n w\u{20}P f",
        "sed -n 1,2w f",
        "sed -i s/a/b/ f",
        "find . -exec touch P ;",
        "find . -fprintf P x",
        "find . -delete",
        "sort --compress-prog=P",
        "sort --comp P",
        "sort -oP a",
        "rg --pre ./x .",
        "rg --hostname-bin x .",
        "git -c alias.x=!touch x",
        "git grep -O./x y",
        "git grep --open-files=./x y",
        "git ls-remote --upload-pack=touch .",
        "git ls-remote --upload=touch .",
        "git clone ext::sh -c x",
        "git diff --output=P",
        "git config alias.x !touch",
        "tar --checkpoint-action=exec=x -cf a b",
        "tar -Ix -cf a b",
        "file -m x",
        "curl -o P u",
        "curl -sOP u",
        "/usr/bin/ENV ls",
        "vim a",
        "ssh host x",
    ] {
        let argv = argv(line);
        assert_eq!(words_needed(&argv), argv.len(), "{line}");
    }
}

#[test]
fn the_programs_behind_others_are_found() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["env", "rm", "x"], &["rm x"]),
        (&["env", "-i", "A=1", "-u", "B", "rm", "x"], &["rm x"]),
        (&["env", "-S", "rm x"], &["rm x"]),
        (&["env", "-Srm x"], &["rm x"]),
        (&["env", "--split-string=rm x"], &["rm x"]),
        (
            &[
                "timeout", "-k", "1", "5", "nice", "-n", "3", "setsid", "rm", "x",
            ],
            &["nice -n 3 setsid rm x", "setsid rm x", "rm x"],
        ),
        (&["xargs", "-n", "1", "rm"], &["rm"]),
        (&["sudo", "-u", "root", "rm", "x"], &["rm x"]),
        (
            &["bash", "-c", "true; A=1 rm x && (ls | 'r'm y)"],
            &["true", "rm x", "ls", "rm y"],
        ),
        (&["bash", "-lc", "echo \"$(rm x)\""], &["echo", "rm x"]),
        (&["sh", "-c", "r\\\nm x"], &["rm x"]),
        (&["find", ".", "-exec", "rm", "{}", ";"], &["rm {}"]),
        (&["busybox", "rm", "x"], &["rm x"]),
        (&["eval", "rm x"], &["rm x"]),
        (&["ls", "rm"], &[]),
        (&["bash", "build.sh"], &[]),
    ];
    for (words, expected) in cases {
        let argv: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut found: Vec<String> = inner(&argv).iter().map(|argv| argv.join(" ")).collect();
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{words:?}");
    }
}
