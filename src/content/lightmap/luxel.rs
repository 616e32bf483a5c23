//! Luxels: their bytes, and the light that they mean.

use std::sync::OnceLock;

use crate::bytes::{integer, nearest_byte, rounded};
use crate::dialect::LuxelForm;

/// A luxel as it is in the file.
///
/// ```
/// use bspkit::content::lightmap::Luxel;
/// let bright = Luxel::Rgbe([128, 64, 0], 1);
/// assert_eq!(bright.linear(), [256.0 / 255.0, 128.0 / 255.0, 0.0]);
/// assert_eq!(bright.with_linear(bright.linear()), bright);
/// assert_eq!(Luxel::Rgb([255, 0, 7]).linear()[0], 1.0);
/// assert_eq!(Luxel::Grey(7).with_shown([90; 3]), Luxel::Grey(90));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Luxel {
    /// One number for all colors, as it is shown.
    Grey(u8),
    /// Red, green, blue, as they are shown: engines multiply the texture by them without conversion.
    Rgb([u8; 3]),
    /// Red, green, blue, and the power of two that they are multiplied by: linear light, in which 255 shows a texture
    /// unchanged (`ColorRGBExp32`).
    Rgbe([u8; 3], i8),
}

/// The gamma of the screens for which 8-bit light was made.
const SCREEN: f64 = 2.2;
/// The weights of red, green and blue in the brightness that the eye sees (Rec. 709).
const BRIGHTNESS: [f64; 3] = [0.2126, 0.7152, 0.0722];

impl Luxel {
    pub(crate) fn read(form: LuxelForm, bytes: &[u8]) -> Self {
        match (form, bytes) {
            (LuxelForm::Rgbe, [red, green, blue, exponent, ..]) => {
                Luxel::Rgbe([*red, *green, *blue], i8::from_le_bytes([*exponent]))
            }
            (LuxelForm::Rgbe, _) => Luxel::Rgbe([0; 3], 0),
            (LuxelForm::Grey, _) => Luxel::Grey(bytes.first().copied().unwrap_or(0)),
            (LuxelForm::Rgb, [red, green, blue, ..]) => Luxel::Rgb([*red, *green, *blue]),
            (LuxelForm::Rgb, _) => Luxel::Rgb([0; 3]),
        }
    }

    /// Its bytes, and how many of them are used.
    pub(super) fn bytes(self) -> ([u8; 4], usize) {
        match self {
            Luxel::Grey(grey) => ([grey, 0, 0, 0], 1),
            Luxel::Rgb([red, green, blue]) => ([red, green, blue, 0], 3),
            Luxel::Rgbe([red, green, blue], exponent) => ([red, green, blue, exponent.to_le_bytes()[0]], 4),
        }
    }

    /// Its form.
    pub fn form(self) -> LuxelForm {
        match self {
            Luxel::Grey(_) => LuxelForm::Grey,
            Luxel::Rgb(_) => LuxelForm::Rgb,
            Luxel::Rgbe(..) => LuxelForm::Rgbe,
        }
    }

    /// The light that it means; 1 shows a texture unchanged.
    ///
    /// An 8-bit luxel is a value for a screen; its light is that value to the power of 2.2.
    pub fn linear(self) -> [f64; 3] {
        match self {
            Luxel::Grey(grey) => [(f64::from(grey) / 255.0).powf(SCREEN); 3],
            Luxel::Rgb(color) => color.map(|part| (f64::from(part) / 255.0).powf(SCREEN)),
            Luxel::Rgbe(color, exponent) => {
                let scale = f64::from(exponent).exp2() / 255.0;
                color.map(|part| f64::from(part) * scale)
            }
        }
    }

    /// The luxel of the same form with other light. Light that is too bright for the form becomes the brightest value;
    /// grey takes the brightness that the eye sees.
    #[must_use]
    pub fn with_linear(self, light: [f64; 3]) -> Self {
        let light = light.map(|part| if part > 0.0 { part } else { 0.0 });
        match self {
            Luxel::Grey(_) => {
                let [red, green, blue] = light;
                let [of_red, of_green, of_blue] = BRIGHTNESS;
                // Grey needs no weights; they would round it.
                let is_grey = red == green && green == blue;
                let light = if is_grey { red } else { red * of_red + green * of_green + blue * of_blue };
                Luxel::Grey(nearest_byte(255.0 * light.powf(1.0 / SCREEN)))
            }
            Luxel::Rgb(_) => Luxel::Rgb(light.map(|part| nearest_byte(255.0 * part.powf(1.0 / SCREEN)))),
            Luxel::Rgbe(..) => {
                let (color, exponent) = pack(light.map(|part| part * 255.0));
                Luxel::Rgbe(color, exponent)
            }
        }
    }

    /// The luxel as a screen shows it. The brightest value is light of 2, which is the limit of the engines; 1 shows a
    /// texture unchanged.
    pub fn shown(self) -> [u8; 3] {
        // A table by exponent and component: computing powers for each luxel would take most of the time of an export.
        static TABLE: OnceLock<Vec<[u8; 256]>> = OnceLock::new();
        match self {
            Luxel::Grey(grey) => [grey; 3],
            Luxel::Rgb(color) => color,
            Luxel::Rgbe(color, exponent) => {
                let table = TABLE.get_or_init(|| (i8::MIN..=i8::MAX).map(shown_with).collect());
                let parts = &table[usize::from(exponent.to_le_bytes()[0] ^ 0x80)];
                color.map(|part| parts[usize::from(part)])
            }
        }
    }

    /// The luxel of this form that displays as the given color, as in [`Luxel::shown`].
    #[must_use]
    pub fn with_shown(self, color: [u8; 3]) -> Self {
        match self {
            Luxel::Grey(_) => self.with_linear(Luxel::Rgb(color).linear()),
            Luxel::Rgb(_) => Luxel::Rgb(color),
            Luxel::Rgbe(..) => self.with_linear(color.map(|part| BRIGHTEST * (f64::from(part) / 255.0).powf(SCREEN))),
        }
    }
}

/// The shown value of each component with an exponent.
fn shown_with(exponent: i8) -> [u8; 256] {
    let scale = f64::from(exponent).exp2() / 255.0;
    let mut light = 0.0;
    [(); 256].map(|()| {
        let part: f64 = light * scale;
        light += 1.0;
        nearest_byte(255.0 * (part / BRIGHTEST).min(1.0).powf(1.0 / SCREEN))
    })
}

/// The most light that is shown; 1 shows a texture unchanged.
const BRIGHTEST: f64 = 2.0;

/// The nearest color with the exponent that keeps most of it.
fn pack(color: [f64; 3]) -> ([u8; 3], i8) {
    let (exponent, parts) = scaled(color);
    let parts = parts.map(|part| (part + 0.5).floor());
    // A component that rounds up to 256 needs the next exponent.
    match exponent.checked_add(1) {
        Some(next) if parts.iter().any(|part| *part >= 256.0) => (parts.map(|part| nearest_byte(part / 2.0)), next),
        _ => (parts.map(nearest_byte), exponent),
    }
}

/// A color as the compilers encode it: truncated, not rounded (`VectorToColorRGBExp32`).
pub(super) fn cut(light: [f64; 3]) -> Luxel {
    let (exponent, parts) = scaled(light.map(|part| part * 255.0));
    Luxel::Rgbe(parts.map(|part| nearest_byte(part.floor())), exponent)
}

/// The exponent with which the largest component is at least 128 and less than 256, and the components with it.
fn scaled(color: [f64; 3]) -> (i8, [f64; 3]) {
    let most = color.into_iter().fold(0.0, f64::max);
    if most <= 0.0 {
        return (0, [0.0; 3]);
    }
    // The logarithm may be wrong in its last bit, and light may be too dark for any exponent.
    let guess = integer(rounded(most.log2().floor())).unwrap_or(0).saturating_sub(8);
    let mut exponent = i8::try_from(guess.max(i32::from(i8::MIN))).unwrap_or(i8::MAX);
    while exponent < i8::MAX && most >= 256.0 * f64::from(exponent).exp2() {
        exponent += 1;
    }
    let scale = f64::from(exponent).exp2();
    // Compilers compute in single precision: the mean of equal luxels is their value.
    (exponent, color.map(|part| f64::from(rounded(part / scale)).min(255.0 + 0.999)))
}
