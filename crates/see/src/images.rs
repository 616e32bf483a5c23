//! Images of Quake III and its relatives: TGA, JPEG and PNG files of a game.

use std::cell::Cell;

use bspkit::Result;
use bspkit::bytes::escaped;
use bspkit_game::assets::{Files, normal_name};
use decoder::{FORMS, Format};

/// The largest file that is read, in bytes, and the most bytes of all files.
const MOST_BYTES: usize = 1 << 26;
const MOST_READ: usize = 1 << 29;
/// An image.
pub(crate) struct Image {
    /// Columns and rows.
    pub(crate) size: [u32; 2],
    /// Red, green, blue and opacity, row by row.
    pub(crate) pixels: Vec<u8>,
}

/// The images of a game.
pub(crate) struct Images<'r> {
    files: &'r dyn Files,
    /// How many bytes of files may still be read.
    left: Cell<usize>,
}

impl<'r> Images<'r> {
    pub(crate) fn new(files: &'r dyn Files) -> Self {
        Images { files, left: Cell::new(MOST_READ) }
    }

    /// The image of a name with or without an extension; `None` if the game has none.
    pub(crate) fn find(&self, name: &[u8]) -> Result<Option<Image>> {
        let name = normal_name(name);
        let without = |(extension, _): &(&[u8], Format)| name.strip_suffix(*extension);
        let stem = FORMS.iter().find_map(without).unwrap_or(&name);
        for (extension, format) in FORMS.iter().copied() {
            let file = [stem, extension].concat();
            let Some(bytes) = self.files.read(&file, MOST_BYTES.min(self.left.get()))? else { continue };
            self.left.set(self.left.get() - bytes.len());
            let read = decoder::read(&bytes, format);
            return read.map(Some).map_err(|error| error.within(format!("the image {}", escaped(&file))));
        }
        Ok(None)
    }
}

#[cfg(feature = "images")]
mod decoder {
    use std::io::Cursor;

    use bspkit::{Error, ErrorKind, Result};
    pub(super) use image::ImageFormat as Format;
    use image::{ImageReader, Limits};

    use super::Image;

    /// The forms of images, in the order in which engines look for them; `.png` is one of newer engines.
    pub(super) const FORMS: &[(&[u8], Format)] =
        &[(b".tga", Format::Tga), (b".jpg", Format::Jpeg), (b".png", Format::Png)];

    /// The longest side of an image.
    const MOST_SIDE: u32 = 1 << 13;

    pub(super) fn read(bytes: &[u8], format: Format) -> Result<Image> {
        let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = Limits::default();
        (limits.max_image_width, limits.max_image_height) = (Some(MOST_SIDE), Some(MOST_SIDE));
        reader.limits(limits);
        let image = reader.decode().map_err(|error| Error::new(ErrorKind::Malformed, error.to_string()))?.into_rgba8();
        Ok(Image { size: [image.width(), image.height()], pixels: image.into_raw() })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn damaged_images_are_errors() {
            for (_, format) in FORMS.iter().copied() {
                assert!(read(b"", format).is_err() && read(&[0xFF; 100], format).is_err());
            }
        }
    }
}

/// Without decoders no image is found.
#[cfg(not(feature = "images"))]
mod decoder {
    use bspkit::Result;

    use super::Image;

    #[derive(Clone, Copy)]
    pub(super) enum Format {}

    pub(super) const FORMS: &[(&[u8], Format)] = &[];

    pub(super) fn read(_: &[u8], format: Format) -> Result<Image> {
        match format {}
    }
}
