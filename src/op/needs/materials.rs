//! What materials name.

use super::graph::Graph;
use super::{Kind, Referrer, Sure};
use crate::content::assets::material::{Names, mentions};

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
        graph.add(kind, &file, referrer, mention.written, sure);
    }
}
