//! Images of Quake III and its relatives: TGA, JPEG and PNG files of a game.

use std::cell::Cell;
use std::io::Cursor;

use bspkit::bytes::escaped;
use bspkit::{Error, ErrorKind, Result};
use bspkit_game::assets::{Files, normal_name};
use image::{ImageFormat, ImageReader, Limits, RgbaImage};

/// The largest file that is read, in bytes, and the most bytes of all files.
const MOST_BYTES: usize = 1 << 26;
const MOST_READ: usize = 1 << 29;
/// The longest side of an image.
const MOST_SIDE: u32 = 1 << 13;

/// The forms of images, in the order in which engines look for them; `.png` is one of newer engines.
const FORMS: [(&[u8], ImageFormat); 3] =
    [(b".tga", ImageFormat::Tga), (b".jpg", ImageFormat::Jpeg), (b".png", ImageFormat::Png)];

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
    pub(crate) fn find(&self, name: &[u8]) -> Result<Option<RgbaImage>> {
        let name = normal_name(name);
        let stem = FORMS.iter().find_map(|(extension, _)| name.strip_suffix(*extension)).unwrap_or(&name);
        for (extension, format) in FORMS {
            let file = [stem, extension].concat();
            let Some(bytes) = self.files.read(&file, MOST_BYTES.min(self.left.get()))? else { continue };
            self.left.set(self.left.get() - bytes.len());
            let read = read(&bytes, format);
            return read.map(Some).map_err(|error| error.within(format!("the image {}", escaped(&file))));
        }
        Ok(None)
    }
}

fn read(bytes: &[u8], format: ImageFormat) -> Result<RgbaImage> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MOST_SIDE), Some(MOST_SIDE));
    reader.limits(limits);
    Ok(reader.decode().map_err(|error| Error::new(ErrorKind::Malformed, error.to_string()))?.into_rgba8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_images_are_errors() {
        for (_, format) in FORMS {
            assert!(read(b"", format).is_err() && read(&[0xFF; 100], format).is_err());
        }
    }
}
