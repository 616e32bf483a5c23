//! Numbers of entity text: decimals of any length, calculated exactly, and rounded once where that is needed.

use super::Operator;

/// The digits that a 32-bit float keeps: a result that is not exact has this many.
const SIGNIFICANT: u32 = 9;

/// The most digits of an exact result; one with more is rounded as a result without an end is.
const MOST_EXACT: u32 = 18;

/// A decimal as it is written: `digits / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

/// How numbers of a value are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// Whether some number ends with a zero after its point, or has the six decimals that compilers print: then all
    /// keep their decimals.
    is_padded: bool,
    /// Whether some number has no digit before its point.
    is_bare: bool,
}

/// The exact result of a calculation, in lowest terms.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    over: i128,
    /// More than 0.
    under: i128,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    DivisionByZero,
    TooManyDigits,
}

impl Decimal {
    /// Reads a whole word: digits with a sign, a point, an exponent. `None` for anything else, and for numbers of more
    /// digits than are calculated with.
    pub(super) fn parse(word: &[u8]) -> Option<Self> {
        let (number, exponent) = match word.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&word[..at], signed(&word[at + 1..])?),
            None => (word, 0),
        };
        let (is_negative, number) = match number {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let point = number.iter().position(|byte| *byte == b'.').unwrap_or(number.len());
        let (whole, fraction) = (&number[..point], number.get(point + 1..).unwrap_or_default());
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits: i128 = 0;
        for byte in whole.iter().chain(fraction) {
            let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
            digits = digits.checked_mul(10)?.checked_add(digit)?;
        }
        let digits = if is_negative { -digits } else { digits };
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => Some(Decimal { digits, scale }),
            Err(_) => {
                let zeros = u32::try_from(scale.checked_neg()?).ok()?;
                let digits = if digits == 0 { 0 } else { digits.checked_mul(power(zeros)?)? };
                Some(Decimal { digits, scale: 0 })
            }
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The result of a calculation as text, in the style of the value. `None` if the value stays the same.
    pub(super) fn calculate(self, operator: Operator, operand: Decimal, style: Style) -> Result<Option<String>, Fault> {
        let result = self.exact(operator, operand)?;
        if self.ratio().is_some_and(|own| (own.over, own.under) == (result.over, result.under)) {
            return Ok(None);
        }
        let kept = match operator {
            Operator::Add | Operator::Subtract => self.scale.max(operand.scale),
            Operator::Multiply | Operator::Divide => self.scale,
        };
        let least = if style.is_padded { self.scale } else { 0 };
        result.print(kept, least, style.is_bare).map(Some).ok_or(Fault::TooManyDigits)
    }

    fn ratio(self) -> Option<Ratio> {
        // Zero is zero with any number of decimals.
        if self.digits == 0 { Some(Ratio { over: 0, under: 1 }) } else { Ratio::new(self.digits, power(self.scale)?) }
    }

    fn exact(self, operator: Operator, operand: Decimal) -> Result<Ratio, Fault> {
        let (one, other) = self.ratio().zip(operand.ratio()).ok_or(Fault::TooManyDigits)?;
        if operator == Operator::Divide && other.over == 0 {
            return Err(Fault::DivisionByZero);
        }
        let result = match operator {
            Operator::Add => one.add(other),
            Operator::Subtract => one.add(Ratio { over: -other.over, ..other }),
            Operator::Multiply => one.times(other),
            Operator::Divide => Ratio::new(other.under, other.over).and_then(|inverse| one.times(inverse)),
        };
        result.ok_or(Fault::TooManyDigits)
    }
}

impl Ratio {
    fn new(over: i128, under: i128) -> Option<Self> {
        let common = common_divisor(over, under).max(1);
        let (over, under) = (over / common, under / common);
        match under < 0 {
            true => Some(Ratio { over: over.checked_neg()?, under: under.checked_neg()? }),
            false => Some(Ratio { over, under }),
        }
    }

    fn add(self, other: Ratio) -> Option<Self> {
        let common = common_divisor(self.under, other.under).max(1);
        let under = self.under.checked_mul(other.under / common)?;
        let one = self.over.checked_mul(other.under / common)?;
        let two = other.over.checked_mul(self.under / common)?;
        Ratio::new(one.checked_add(two)?, under)
    }

    fn times(self, other: Ratio) -> Option<Self> {
        // Shortened first, so that products that fit are not refused.
        let one = Ratio::new(self.over, other.under)?;
        let two = Ratio::new(other.over, self.under)?;
        Ratio::new(one.over.checked_mul(two.over)?, one.under.checked_mul(two.under)?)
    }

    /// The number as text: exact if it ends within [`MOST_EXACT`] digits, otherwise rounded to the decimals `kept` or
    /// to the digits that a float keeps, whichever are more. It has at least the decimals `least`.
    fn print(self, kept: u32, least: u32, is_bare: bool) -> Option<String> {
        let limit = kept.max(self.decimals_of_floats()?);
        let whole_digits = (self.over / self.under).unsigned_abs().checked_ilog10().map_or(0, |log| log + 1);
        let mut decimals = match self.exact_decimals() {
            Some(exact) if whole_digits + exact <= MOST_EXACT => exact,
            Some(exact) => exact.min(limit),
            None => limit,
        };
        let mut digits = self.rounded(decimals)?;
        while decimals > 0 && digits % 10 == 0 {
            (digits, decimals) = (digits / 10, decimals - 1);
        }
        if decimals < least {
            (digits, decimals) = (digits.checked_mul(power(least - decimals)?)?, least);
        }
        let sign = if digits < 0 { "-" } else { "" };
        let width = usize::try_from(decimals).ok()?;
        let text = format!("{:0>1$}", digits.unsigned_abs(), width + 1);
        let (whole, fraction) = text.split_at(text.len() - width);
        let whole = if is_bare && whole == "0" && width > 0 { "" } else { whole };
        let point = if width > 0 { "." } else { "" };
        Some(format!("{sign}{whole}{point}{fraction}"))
    }

    /// The decimals after which a number of this size has all digits that a float keeps.
    fn decimals_of_floats(self) -> Option<u32> {
        let whole = (self.over / self.under).unsigned_abs();
        if let Some(log) = whole.checked_ilog10() {
            return Some(SIGNIFICANT.saturating_sub(log + 1));
        }
        if self.over == 0 {
            return Some(0);
        }
        let mut zeros = 0;
        while self.over.checked_mul(power(zeros + 1)?)? / self.under == 0 {
            zeros += 1;
        }
        Some(zeros + SIGNIFICANT)
    }

    /// The decimals of the exact number; `None` if they do not end.
    fn exact_decimals(self) -> Option<u32> {
        let (mut rest, mut twos, mut fives) = (self.under, 0, 0);
        while rest % 2 == 0 {
            (rest, twos) = (rest / 2, twos + 1);
        }
        while rest % 5 == 0 {
            (rest, fives) = (rest / 5, fives + 1);
        }
        (rest == 1).then_some(twos.max(fives))
    }

    /// The number times `10^decimals`, rounded to the nearest; halves away from zero.
    fn rounded(self, decimals: u32) -> Option<i128> {
        let power = power(decimals)?;
        let common = common_divisor(power, self.under).max(1);
        let (over, under) = (self.over.checked_mul(power / common)?, self.under / common);
        let (quotient, rest) = (over / under, over % under);
        let is_up = rest.unsigned_abs() >= under.unsigned_abs() - rest.unsigned_abs();
        Some(if is_up { quotient + over.signum() } else { quotient })
    }
}

impl Style {
    /// The style of a word, beside that of others.
    pub(super) fn add(&mut self, word: &[u8]) {
        let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
        self.is_bare |= digits.starts_with(b".");
        let fraction = digits.iter().position(|byte| *byte == b'.').map_or(&b""[..], |point| &digits[point + 1..]);
        self.is_padded |= fraction.ends_with(b"0") || fraction.len() == 6;
    }
}

fn signed(text: &[u8]) -> Option<i64> {
    let number = std::str::from_utf8(text).ok()?.parse().ok()?;
    // More than any number that fits.
    (-99..=99).contains(&number).then_some(number)
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    i128::try_from(one).unwrap_or(1)
}
