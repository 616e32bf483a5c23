//! A run of the program as a picture: text in an SVG file, in the order in which it was printed.

use std::fmt::Write;

const LINE: usize = 18;
const LETTER: usize = 8;
const MARGIN: usize = 16;

/// The picture of commands and what they printed.
pub(crate) fn svg(runs: &[(&str, String)]) -> String {
    let mut lines = Vec::new();
    for (command, printed) in runs {
        lines.push((true, format!("$ {command}")));
        lines.extend(printed.lines().map(|line| (false, line.to_string())));
    }
    let longest = lines.iter().map(|(_, line)| line.chars().count()).max().unwrap_or(0);
    let (width, height) = (longest * LETTER + 2 * MARGIN, lines.len() * LINE + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (row, (is_command, line)) in lines.iter().enumerate() {
        let fill = if *is_command { "#8fd0ff" } else { "#d7dae0" };
        let (y, length) = (MARGIN + row * LINE + 13, line.chars().count() * LETTER);
        writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{fill}\" textLength=\"{length}\" xml:space=\"preserve\">{}</text>",
            escaped(line)
        )
        .unwrap();
    }
    svg + "</svg>\n"
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn signs_of_the_markup_are_escaped() {
    let svg = svg(&[("cat <a> & b", "x\n".to_string())]);
    assert!(svg.contains("$ cat &lt;a&gt; &amp; b</text>") && svg.contains(">x</text>"), "{svg}");
}
