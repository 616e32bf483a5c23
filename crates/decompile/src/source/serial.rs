//! How the bytes of a source go through serde: as bytes, since they need not be UTF-8.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a text.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(Seen)
    }
}

/// One text.
pub(super) mod one {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(text: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(text)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(Bytes::deserialize(deserializer)?.0)
    }
}

/// Several texts.
pub(super) mod all {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(texts: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(texts.iter().map(|text| Bytes(text.clone())))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        Ok(Vec::<Bytes>::deserialize(deserializer)?.into_iter().map(|text| text.0).collect())
    }
}

/// Pairs of texts.
pub(super) mod pairs {
    use super::*;

    type Pair = (Vec<u8>, Vec<u8>);

    pub(in super::super) fn serialize<S: Serializer>(pairs: &[Pair], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pairs.iter().map(|(key, value)| (Bytes(key.clone()), Bytes(value.clone()))))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pair>, D::Error> {
        let pairs = Vec::<(Bytes, Bytes)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|(key, value)| (key.0, value.0)).collect())
    }
}
