//! Charts as self-contained HTML: one inline SVG, no script, nothing loaded from elsewhere.

use std::fmt::Write as _;

/// A bar of parts, one after another.
#[derive(Debug)]
pub(crate) struct Bar {
    name: String,
    parts: Vec<u64>,
}

impl Bar {
    pub(crate) fn new(name: &str, parts: &[u64]) -> Self {
        Self {
            name: name.to_owned(),
            parts: parts.to_vec(),
        }
    }

    fn total(&self) -> u64 {
        self.parts.iter().sum()
    }
}

/// Colours that differ in brightness too, one for each part.
const COLOURS: [&str; 4] = ["#1b4f72", "#2e86c1", "#aed6f1", "#7d7d7d"];

const ROW: usize = 26;
const LEFT: usize = 240;
const WIDTH: usize = 620;
const RIGHT: usize = 90;
const TOP: usize = 34;

/// Returns a page with a title, a sentence, and one bar below another.
pub(crate) fn page(title: &str, sentence: &str, legend: &[&str], bars: &[Bar]) -> String {
    page_with_notes(title, sentence, legend, bars, &[])
}

/// Returns such a page with a list of notes below the bars.
pub(crate) fn page_with_notes(
    title: &str,
    sentence: &str,
    legend: &[&str],
    bars: &[Bar],
    notes: &[String],
) -> String {
    let (title, sentence) = (escaped(title), escaped(sentence));
    let chart = svg(&title, legend, bars);
    let items: Vec<String> = notes
        .iter()
        .map(|note| format!("<li>{}</li>\n", escaped(note)))
        .collect();
    let list = if items.is_empty() {
        String::new()
    } else {
        format!("<ul>\n{}</ul>\n", items.concat())
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>body{{font:14px system-ui,sans-serif;margin:2rem;color-scheme:light dark}}\
         text{{font:13px system-ui,sans-serif;fill:currentColor}}svg{{max-width:100%;height:auto}}\
         </style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{sentence}</p>\n{chart}{list}</body>\n</html>\n"
    )
}

fn svg(title: &str, legend: &[&str], bars: &[Bar]) -> String {
    let (width, height) = (LEFT + WIDTH + RIGHT, TOP + bars.len() * ROW + 10);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{title}\">\n"
    );
    for (at, (name, colour)) in legend.iter().zip(COLOURS).enumerate() {
        let x = LEFT + at * 120;
        // Writing to a text does not fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"6\" width=\"14\" height=\"14\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"18\">{}</text>",
            x + 20,
            escaped(name)
        );
    }
    let most = bars.iter().map(Bar::total).max().unwrap_or(0).max(1);
    for (row, bar) in bars.iter().enumerate() {
        bar_svg(&mut svg, bar, TOP + row * ROW, legend, most);
    }
    svg.push_str("</svg>\n");
    svg
}

fn bar_svg(svg: &mut String, bar: &Bar, y: usize, legend: &[&str], most: u64) {
    let middle = y + 17;
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>",
        LEFT - 8,
        escaped(&shortened(&bar.name))
    );
    let mut before = 0;
    let at = |tokens: u64| tokens as f64 / most as f64 * WIDTH as f64;
    for ((part, name), colour) in bar.parts.iter().zip(legend).zip(COLOURS) {
        if *part > 0 {
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\">\
                 <title>{}: {part} {}</title></rect>",
                LEFT as f64 + at(before),
                y + 4,
                at(*part).max(0.5),
                ROW - 8,
                escaped(&bar.name),
                escaped(name),
            );
        }
        before += part;
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{middle}\">{}</text>",
        LEFT as f64 + at(before) + 6.0,
        bar.total()
    );
}

fn shortened(name: &str) -> String {
    crate::render::terminal::one_line(name, 34)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_stands_alone_and_takes_no_markup_from_names() {
        let bars = [
            Bar::new("a<script>\"x\"&", &[1, 0, 3]),
            Bar::new("b", &[0, 0, 0]),
        ];
        let page = page("Cost", "All & none", &["one", "two", "three"], &bars);
        assert!(page.contains("a&lt;script&gt;&quot;x&quot;&amp;: 1 one"));
        assert!(page.contains("<p>All &amp; none</p>"));
        for reference in ["<script", "http", "url(", "src="] {
            assert!(!page.contains(reference), "{reference}");
        }
        // One rectangle a part that is not empty, and one a word of the legend.
        assert_eq!(page.matches("<rect").count(), 2 + 3);
    }
}
