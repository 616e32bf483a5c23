//! What materials name.

use super::graph::Graph;
use super::{Kind, Referrer, Sure};
use crate::content::assets::material::{Names, material_file, mentions};

/// A larger material is not read.
const MOST_BYTES: usize = 1 << 20;

pub(super) fn expand(graph: &mut Graph<'_>, index: usize) {
    let name = graph.needs.files[index].name.clone();
    let Some(text) = graph.text(&name, MOST_BYTES) else { return };
    for mention in mentions(&text) {
        let (file, referrer) = (mention.file(), Referrer::File { index, line: Some(mention.pair.line()) });
        let (kind, sure) = match mention.names {
            Names::Include | Names::Material => (Kind::Material, Sure::Certain),
            Names::Texture => (Kind::Texture, Sure::Certain),
            // A guess is right only if there is such a file.
            Names::Perhaps => (Kind::Texture, Sure::Optional),
        };
        if mention.is_envmap() {
            let twin = [file.strip_suffix(b".vtf").unwrap_or(&file), b".hdr.vtf"].concat();
            graph.add(Kind::Texture, &twin, referrer.clone(), mention.written, Sure::Optional);
        }
        if mention.names == Names::Perhaps {
            let material = material_file(mention.written);
            graph.add(Kind::Material, &material, referrer.clone(), mention.written, Sure::Optional);
        }
        graph.add(kind, &file, referrer, mention.written, sure);
    }
    // A text may begin with another one, whose path is that from its own folder.
    let folder = name.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |end| &name[..=end]);
    for pair in text.roots().filter(|pair| pair.is("#include") || pair.is("#base")) {
        let Some(written) = pair.value() else { continue };
        let referrer = Referrer::File { index, line: Some(pair.line()) };
        graph.add(Kind::Material, &[folder, written].concat(), referrer, written, Sure::Optional);
    }
}
