//! glTF 2.0 (Khronos Group, "glTF 2.0 Specification").

use std::collections::BTreeMap;

use bspkit::bytes::{short, wide};
use bspkit::{Error, ErrorKind, Result};
use gltf_json as json;
use json::Index;
use json::accessor::{ComponentType, GenericComponentType, Type};
use json::buffer::{Stride, Target, View};
use json::extensions::material::Unlit;
use json::material::{AlphaCutoff, AlphaMode, PbrBaseColorFactor, StrengthFactor};
use json::mesh::{Mode, Primitive, Semantic};
use json::scene::UnitQuaternion;
use json::texture::{MagFilter, MinFilter, WrappingMode};
use json::validation::Checked::Valid;
use json::validation::USize64;
use serde_json::{Map, Value};

use crate::files::{File, METRES, file_of_texture, in_axes, name_start, placed_at, stem};
use crate::parts::{LightPages, Model, Part, Surface, Texture, Vertex};
use crate::picture::{Alpha, Picture};
use crate::placed::{Placed, What};
use crate::scene::Scene;
use crate::spaces::Spaces;

/// The largest file, in bytes.
const MOST_BYTES: usize = 1 << 31;

/// The extension with light on a second set of coordinates, as Mozilla Hubs and its exporter for Blender have it.
const LIGHT: &str = "MOZ_lightmap";
const UNLIT: &str = "KHR_materials_unlit";

/// One file.
pub(crate) fn binary(scene: &Scene, name: &str) -> Result<Vec<File>> {
    let (root, bytes, _) = Document::of(scene, name, false)?.finish();
    let mut text = json::serialize::to_vec(&root).map_err(unwritten)?;
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + text.len() + 8 + bytes.len();
    let mut file = Vec::with_capacity(total);
    file.extend_from_slice(b"glTF");
    for number in [2, short(total), short(text.len())] {
        file.extend_from_slice(&number.to_le_bytes());
    }
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(&text);
    file.extend_from_slice(&short(bytes.len()).to_le_bytes());
    file.extend_from_slice(b"BIN\0");
    file.extend_from_slice(&bytes);
    Ok(vec![File::new(name, file)])
}

/// A text, the numbers, and the pictures.
pub(crate) fn text(scene: &Scene, name: &str) -> Result<Vec<File>> {
    let (root, bytes, pictures) = Document::of(scene, name, true)?.finish();
    let text = json::serialize::to_vec_pretty(&root).map_err(unwritten)?;
    let mut files = vec![File::new(name, text), File::new(numbers_of(name), bytes)];
    files.extend(pictures);
    Ok(files)
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::new(ErrorKind::Io, "the glTF cannot be written").with_source(error)
}

/// The file with the numbers of a text.
fn numbers_of(name: &str) -> String {
    format!("{}.bin", stem(name))
}

/// The address of a file beside the text, whose name has any letters.
fn address(file: &str, name: &str) -> String {
    // The folder of the text is not part of it.
    let folder = name_start(name);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/');
    let mut text = String::new();
    for byte in file.as_bytes().get(folder..).unwrap_or_default() {
        match plain(byte) {
            true => text.push(char::from(*byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// A document while it grows.
struct Document<'s> {
    name: &'s str,
    scene: &'s Scene,
    root: json::Root,
    bytes: Vec<u8>,
    /// Pictures that are files of their own.
    pictures: Vec<File>,
    /// Whether they are.
    is_text: bool,
    materials: BTreeMap<(usize, Option<usize>), Index<json::Material>>,
    textures: BTreeMap<usize, Index<json::Texture>>,
    /// The light that materials have, by page.
    pages: Vec<Option<Index<json::Texture>>>,
}

impl<'s> Document<'s> {
    fn of(scene: &'s Scene, name: &'s str, is_text: bool) -> Result<Self> {
        let mut document = Document {
            name,
            scene,
            root: json::Root::default(),
            bytes: Vec::new(),
            pictures: Vec::new(),
            is_text,
            materials: BTreeMap::new(),
            textures: BTreeMap::new(),
            pages: Vec::new(),
        };
        document.root.asset.generator = Some("bspkit".to_owned());
        let uri = is_text.then(|| address(&numbers_of(name), name));
        document.root.push(json::Buffer { byte_length: USize64(0), name: None, uri, extensions: None, extras: None });
        let light = scene.light.as_ref().map(|light| document.light(light)).transpose()?;
        let meshes = scene.models.iter().map(|model| document.mesh(model)).collect::<Result<Vec<_>>>()?;
        let spaces = scene.spaces.as_ref().map(|spaces| document.spaces(spaces)).transpose()?;
        document.nodes(&meshes, light, spaces);
        Ok(document)
    }

    fn finish(mut self) -> (json::Root, Vec<u8>, Vec<File>) {
        let padded = self.bytes.len().next_multiple_of(4).max(4);
        self.bytes.resize(padded, 0);
        if let Some(buffer) = self.root.buffers.first_mut() {
            buffer.byte_length = USize64(wide(self.bytes.len()));
        }
        (self.root, self.bytes, self.pictures)
    }

    // Numbers.

    /// A range of the numbers.
    fn view(&mut self, bytes: &[u8], stride: Option<usize>, target: Option<Target>) -> Result<Index<View>> {
        let start = self.bytes.len().next_multiple_of(4);
        if start + bytes.len() > MOST_BYTES {
            let message = format!("{} would be larger than {MOST_BYTES} bytes", self.name);
            return Err(Error::new(ErrorKind::TooLarge, message).with_hint("export a part of it with --only"));
        }
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(bytes);
        Ok(self.root.push(View {
            buffer: Index::new(0),
            byte_length: USize64(wide(bytes.len())),
            byte_offset: Some(USize64(wide(start))),
            byte_stride: stride.map(Stride),
            name: None,
            target: target.map(Valid),
            extensions: None,
            extras: None,
        }))
    }

    /// Numbers of one kind in a range.
    fn accessor(&mut self, view: Index<View>, offset: usize, count: usize, kind: Kind) -> Index<json::Accessor> {
        let bounds = |values: Option<[f32; 3]>| values.map(|values| Value::from(values.map(f64::from).to_vec()));
        self.root.push(json::Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(wide(offset))),
            count: USize64(wide(count)),
            component_type: Valid(GenericComponentType(kind.component)),
            type_: Valid(kind.shape),
            min: bounds(kind.bounds.map(|[least, _]| least)),
            max: bounds(kind.bounds.map(|[_, most]| most)),
            name: None,
            normalized: kind.is_share,
            sparse: None,
            extensions: None,
            extras: None,
        })
    }

    fn mesh(&mut self, model: &Model) -> Result<Option<Index<json::Mesh>>> {
        let primitives = model.parts.iter().map(|part| self.part(part)).collect::<Result<Vec<_>>>()?;
        Ok((!primitives.is_empty()).then(|| {
            let (name, weights) = (None, None);
            self.root.push(json::Mesh { primitives, name, weights, extensions: None, extras: None })
        }))
    }

    fn part(&mut self, part: &Part) -> Result<Primitive> {
        let fields = Fields { has_light: part.page.is_some(), has_colors: part.has_colors };
        let mut bytes = Vec::with_capacity(part.vertices.len() * fields.size());
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for vertex in &part.vertices {
            let point = placed_at(vertex.point);
            for axis in 0..3 {
                bounds[0][axis] = bounds[0][axis].min(point[axis]);
                bounds[1][axis] = bounds[1][axis].max(point[axis]);
            }
            fields.write(vertex, point, &mut bytes);
        }
        let count = part.vertices.len();
        let view = self.view(&bytes, Some(fields.size()), Some(Target::ArrayBuffer))?;
        let mut attributes = BTreeMap::new();
        for (semantic, offset, kind) in fields.all(bounds) {
            attributes.insert(Valid(semantic), self.accessor(view, offset, count, kind));
        }
        let corners = part.triangles.iter().flatten();
        // The highest number of 16 bits has another meaning.
        let (bytes, component): (Vec<u8>, _) = match u16::try_from(count) {
            Ok(_) => {
                let low = |corner: &u32| [corner.to_le_bytes()[0], corner.to_le_bytes()[1]];
                (corners.flat_map(low).collect(), ComponentType::U16)
            }
            Err(_) => (corners.flat_map(|corner| corner.to_le_bytes()).collect(), ComponentType::U32),
        };
        let view = self.view(&bytes, None, Some(Target::ElementArrayBuffer))?;
        let kind = Kind { component, shape: Type::Scalar, bounds: None, is_share: false };
        let indices = Some(self.accessor(view, 0, part.triangles.len() * 3, kind));
        let material = Some(self.material(part.texture, part.page)?);
        let mode = Valid(Mode::Triangles);
        Ok(Primitive { attributes, indices, material, mode, targets: None, extensions: None, extras: None })
    }

    // Pictures and materials.

    fn image(&mut self, picture: &Picture, file: String, name: String) -> Result<Index<json::Image>> {
        let (buffer_view, uri, mime_type) = match self.is_text {
            true => {
                let uri = address(&file, self.name);
                self.pictures.push(File::new(file, picture.png.clone()));
                (None, Some(uri), None)
            }
            false => {
                (Some(self.view(&picture.png, None, None)?), None, Some(json::image::MimeType("image/png".to_owned())))
            }
        };
        let name = Some(name);
        Ok(self.root.push(json::Image { buffer_view, mime_type, name, uri, extensions: None, extras: None }))
    }

    /// The texture of an image: sampler 0 repeats, sampler 1 does not.
    fn sampled(&mut self, source: Index<json::Image>, sampler: u32) -> Index<json::Texture> {
        if self.root.samplers.is_empty() {
            for (wrap, small) in
                [(WrappingMode::Repeat, MinFilter::LinearMipmapLinear), (WrappingMode::ClampToEdge, MinFilter::Linear)]
            {
                self.root.push(json::texture::Sampler {
                    mag_filter: Some(Valid(MagFilter::Linear)),
                    min_filter: Some(Valid(small)),
                    wrap_s: Valid(wrap),
                    wrap_t: Valid(wrap),
                    name: None,
                    extensions: None,
                    extras: None,
                });
            }
        }
        let sampler = Some(Index::new(sampler));
        self.root.push(json::Texture { sampler, source, name: None, extensions: None, extras: None })
    }

    /// The images of light, and what they are.
    fn light(&mut self, light: &LightPages) -> Result<Value> {
        self.pages = vec![None; light.pages.len()];
        let mut images = Vec::new();
        for image in &light.images {
            let kind = if image.is_exact { "_rgbe" } else { "" };
            let name = format!("light_style{}_page{}{kind}", image.style, image.page);
            let file = format!("{}.textures/{name}.png", stem(self.name));
            let source = self.image(&image.picture, file, name)?;
            if image.style == light.base_style() && !image.is_exact {
                self.pages[image.page] = Some(self.sampled(source, 1));
            }
            let mut about = Map::new();
            about.insert("style".to_owned(), image.style.into());
            about.insert("page".to_owned(), image.page.into());
            about.insert("image".to_owned(), source.value().into());
            if image.is_exact {
                about.insert("form".to_owned(), "rgbe".into());
            }
            images.push(Value::Object(about));
        }
        let mut about = Map::new();
        if !light.set.is_empty() {
            about.insert("set".to_owned(), light.set.into());
        }
        about.insert("brightest".to_owned(), f64::from(light.brightest).into());
        about.insert("images".to_owned(), images.into());
        Ok(about.into())
    }

    fn material(&mut self, texture: usize, page: Option<usize>) -> Result<Index<json::Material>> {
        if let Some(known) = self.materials.get(&(texture, page)) {
            return Ok(*known);
        }
        let look = &self.scene.textures[texture];
        let base = match (&look.picture, self.textures.get(&texture)) {
            (Some(_), Some(known)) => Some(*known),
            (Some(picture), None) => {
                let source = self.image(picture, file_of_texture(self.name, texture, &look.name), look.name.clone())?;
                let sampled = self.sampled(source, 0);
                self.textures.insert(texture, sampled);
                Some(sampled)
            }
            (None, _) => None,
        };
        let mut material = material(look, base);
        // The sky is bright by itself.
        let is_sky = look.surface == Surface::Sky;
        if let Some(light) = page.filter(|_| !is_sky).and_then(|page| self.pages.get(page).copied().flatten()) {
            let brightest = self.scene.light.as_ref().map_or(1.0, |light| f64::from(light.brightest));
            let mut about = Map::new();
            about.insert("index".to_owned(), light.value().into());
            about.insert("texCoord".to_owned(), 1.into());
            about.insert("intensity".to_owned(), brightest.into());
            material.extensions.get_or_insert_default().others.insert(LIGHT.to_owned(), about.into());
            self.uses(LIGHT);
        }
        if is_sky {
            material.extensions.get_or_insert_default().unlit = Some(Unlit {});
            self.uses(UNLIT);
        }
        let index = self.root.push(material);
        self.materials.insert((texture, page), index);
        Ok(index)
    }

    fn uses(&mut self, extension: &str) {
        if !self.root.extensions_used.iter().any(|used| used == extension) {
            self.root.extensions_used.push(extension.to_owned());
        }
    }

    // Nodes.

    /// The tree as lists of numbers that nothing of glTF names: readers that do not know them pass over them.
    fn spaces(&mut self, spaces: &Spaces) -> Result<Value> {
        let mut about = Map::new();
        about.insert("head".to_owned(), spaces.head.into());
        for (name, bytes) in spaces.lists().into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
            about.insert(name.to_owned(), self.view(&bytes, None, None)?.value().into());
        }
        about.insert("stops".to_owned(), spaces.clips.iter().map(|clip| clip.contents.as_str()).collect());
        Ok(about.into())
    }

    fn nodes(&mut self, meshes: &[Option<Index<json::Mesh>>], light: Option<Value>, spaces: Option<Value>) {
        let (scene, mut all) = (self.scene, Vec::new());
        let mut groups: [(&str, Vec<Index<json::Node>>); 3] =
            [("models", Vec::new()), ("entities", Vec::new()), ("props", Vec::new())];
        let mut is_placed = vec![false; meshes.len()];
        for placed in &scene.placed {
            let mesh = placed.model.and_then(|model| {
                is_placed[model] = true;
                meshes[model]
            });
            let node = self.root.push(node(placed, mesh));
            match (placed.what, placed.model) {
                (What::Entity, Some(0)) => all.push(node),
                (What::Entity, Some(_)) => groups[0].1.push(node),
                (What::Entity, None) => groups[1].1.push(node),
                (What::Prop, _) => groups[2].1.push(node),
            }
        }
        for (model, mesh) in meshes.iter().enumerate().filter(|(model, mesh)| mesh.is_some() && !is_placed[*model]) {
            let name = if model == 0 { "world".to_owned() } else { format!("*{model}") };
            let node = self.root.push(json::Node { mesh: *mesh, name: Some(name), ..json::Node::default() });
            if model == 0 { all.push(node) } else { groups[0].1.push(node) }
        }
        for (name, children) in groups.into_iter().filter(|(_, children)| !children.is_empty()) {
            let (name, children) = (Some(name.to_owned()), Some(children));
            all.push(self.root.push(json::Node { name, children, ..json::Node::default() }));
        }
        let mut about = Map::new();
        about.insert("dialect".to_owned(), scene.dialect.into());
        about.insert("metres_per_unit".to_owned(), METRES.into());
        // The page begins there.
        about.extend(scene.start.map(|start| ("start".to_owned(), Value::from(start.to_vec()))));
        about.extend(light.map(|light| ("light".to_owned(), light)));
        about.extend(spaces.map(|spaces| ("spaces".to_owned(), spaces)));
        let name = Some(stem(self.name)[name_start(self.name)..].to_owned());
        let children = (!all.is_empty()).then_some(all);
        let root = json::Node { name, children, extras: extras(about), ..json::Node::default() };
        let nodes = vec![self.root.push(root)];
        let scene = self.root.push(json::Scene { nodes, name: None, extensions: None, extras: None });
        self.root.scene = Some(scene);
    }
}

/// A kind of numbers.
struct Kind {
    component: ComponentType,
    shape: Type,
    bounds: Option<[[f32; 3]; 2]>,
    /// Whether integers are shares of 1.
    is_share: bool,
}

/// What each vertex of a part has, one after the other.
#[derive(Clone, Copy)]
struct Fields {
    has_light: bool,
    has_colors: bool,
}

impl Fields {
    /// The attributes, with the offset of each in a vertex.
    fn all(self, bounds: [[f32; 3]; 2]) -> Vec<(Semantic, usize, Kind)> {
        let floats = |shape: Type, bounds| Kind { component: ComponentType::F32, shape, bounds, is_share: false };
        let colors = Kind { component: ComponentType::U8, shape: Type::Vec4, bounds: None, is_share: true };
        let mut all = vec![
            (Semantic::Positions, 12, floats(Type::Vec3, Some(bounds))),
            (Semantic::Normals, 12, floats(Type::Vec3, None)),
            (Semantic::TexCoords(0), 8, floats(Type::Vec2, None)),
        ];
        all.extend(self.has_light.then(|| (Semantic::TexCoords(1), 8, floats(Type::Vec2, None))));
        all.extend(self.has_colors.then_some((Semantic::Colors(0), 4, colors)));
        all.push((Semantic::Extras("FACE".to_owned()), 4, floats(Type::Scalar, None)));
        let mut offset = 0;
        for (_, size, _) in &mut all {
            (offset, *size) = (offset + *size, offset);
        }
        all
    }

    /// The bytes of a vertex.
    fn size(self) -> usize {
        36 + if self.has_light { 8 } else { 0 } + if self.has_colors { 4 } else { 0 }
    }

    fn write(self, vertex: &Vertex, point: [f32; 3], bytes: &mut Vec<u8>) {
        let mut put = |floats: &[f32]| floats.iter().for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
        put(&point);
        put(&in_axes(vertex.normal));
        put(&vertex.texture);
        if self.has_light {
            put(&vertex.light);
        }
        if self.has_colors {
            bytes.extend_from_slice(&vertex.color);
        }
        // Every face that a map can have is exact as a float of its size.
        let face = crate::points::single(bspkit::bytes::index(vertex.face));
        bytes.extend_from_slice(&face.to_le_bytes());
    }
}

/// What a texture looks like.
fn material(look: &Texture, base: Option<Index<json::Texture>>) -> json::Material {
    let alpha = look.picture.as_ref().map_or(Alpha::Opaque, |picture| picture.alpha);
    let mode = match (look.surface, alpha) {
        _ if look.opacity < 1.0 => AlphaMode::Blend,
        (Surface::Glass, Alpha::Smooth) => AlphaMode::Blend,
        (Surface::Fence, Alpha::Holes) | (Surface::Glass, Alpha::Holes) => AlphaMode::Mask,
        // In other textures the opacity has another meaning.
        _ => AlphaMode::Opaque,
    };
    let [red, green, blue] = if base.is_some() { [1.0; 3] } else { look.color };
    let mut about = Map::new();
    about.insert("surface".to_owned(), look.surface.name().into());
    about.extend(look.size.map(|size| ("size".to_owned(), size.to_vec().into())));
    let pbr_metallic_roughness = json::material::PbrMetallicRoughness {
        base_color_factor: PbrBaseColorFactor([red, green, blue, look.opacity]),
        base_color_texture: base.map(|index| json::texture::Info {
            index,
            tex_coord: 0,
            extensions: None,
            extras: None,
        }),
        metallic_factor: StrengthFactor(0.0),
        roughness_factor: StrengthFactor(1.0),
        ..json::material::PbrMetallicRoughness::default()
    };
    json::Material {
        alpha_cutoff: (mode == AlphaMode::Mask).then_some(AlphaCutoff(0.5)),
        alpha_mode: Valid(mode),
        double_sided: look.surface == Surface::Fence,
        name: Some(look.name.clone()),
        pbr_metallic_roughness,
        extras: extras(about),
        ..json::Material::default()
    }
}

/// The node of an entity or a prop.
fn node(placed: &Placed, mesh: Option<Index<json::Mesh>>) -> json::Node {
    let mut about = Map::new();
    about.insert(if placed.what == What::Prop { "prop" } else { "entity" }.to_owned(), placed.index.into());
    about.insert("pairs".to_owned(), pairs(placed));
    // The world does not move.
    let translation = Some(placed_at(placed.origin)).filter(|at| *at != [0.0; 3] && placed.model != Some(0));
    let [x, y, z, w] = placed.rotation();
    let [x, y, z] = in_axes([x, y, z]);
    let rotation = Some(UnitQuaternion([x, y, z, w])).filter(|turn| turn.0 != [0.0, 0.0, 0.0, 1.0]);
    let name = if placed.name.is_empty() { "entity".to_owned() } else { placed.name.clone() };
    json::Node {
        mesh,
        name: Some(name),
        translation,
        rotation,
        // Without the sign of `in_axes`.
        scale: Some([placed.scale[0], placed.scale[2], placed.scale[1]]).filter(|scale| *scale != [1.0; 3]),
        extras: extras(about),
        ..json::Node::default()
    }
}

/// Keys with their values; a key that comes several times has a list of them.
fn pairs(placed: &Placed) -> Value {
    let mut all = Map::new();
    for (key, value) in &placed.pairs {
        let value = Value::from(value.as_str());
        match all.get_mut(key) {
            None => drop(all.insert(key.clone(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = vec![first.take(), value].into(),
        }
    }
    all.into()
}

/// What applications know; a document of strings, numbers and lists can always be written.
fn extras(about: Map<String, Value>) -> json::Extras {
    serde_json::value::to_raw_value(&about).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_plain_letters() {
        assert_eq!(address("maps/a b/c%.bin", "maps/a b/c%.gltf"), "c%25.bin");
        assert_eq!(address("é.textures/1.png", "é.gltf"), "%C3%A9.textures/1.png");
    }

    #[test]
    fn keys_that_come_twice_have_a_list() {
        let placed = Placed {
            what: What::Entity,
            index: 1,
            name: String::new(),
            pairs: [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")]
                .map(|(key, value)| (key.into(), value.into()))
                .to_vec(),
            origin: [0.0; 3],
            angles: [0.0; 3],
            scale: [1.0; 3],
            model: None,
        };
        assert_eq!(pairs(&placed).to_string(), r#"{"a":["1","3","4"],"b":"2"}"#);
    }
}
