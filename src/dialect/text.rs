//! What a dialect's engines can read back of an entity text.

/// The limits of the tokenizers and spawn code that read a dialect's entity text.
///
/// An edit is refused where *no* engine of the dialect could read it back; what only some of them cannot read is
/// a matter for `check`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EntityRules {
    /// Whose rules these are, as a refusal names them: `Quake 3 engines`.
    pub engines: &'static str,
    /// The longest key or value, in bytes, that the most generous engine returns whole.
    pub max_token: usize,
    /// The longest key in bytes.
    pub max_key: usize,
    /// The most pairs that one entity may have.
    pub max_pairs: Option<usize>,
    /// The most bytes that the keys and values of one entity may have together, each with a NUL behind it.
    pub max_entity_bytes: Option<usize>,
    /// Whether a key or value that is exactly `{` breaks the reading of everything behind it.
    pub lone_brace_breaks: bool,
    /// Whether `/* … */` outside quotes is a comment, as `// …` is everywhere.
    pub block_comments: bool,
    /// Bytes that are tokens by themselves outside of quotes, as braces are everywhere.
    pub single_tokens: &'static [u8],
}

impl EntityRules {
    /// GoldSrc: the engine hands values of more than 1,023 bytes to the game in pieces and copies keys into 256
    /// bytes (ReHLDS `COM_Parse`, `ED_ParseEdict`).
    pub const GOLDSRC: EntityRules = EntityRules {
        engines: "GoldSrc engines",
        max_token: 1023,
        max_key: 255,
        max_pairs: None,
        max_entity_bytes: None,
        lone_brace_breaks: false,
        block_comments: false,
        single_tokens: b"",
    };

    /// Quake: tokens of 1,023 bytes in the engines in use today, which check what the original's buffer of 1,024 did
    /// not; keys are copied into 256 bytes (Quakespasm `COM_Parse`, `ED_ParseEdict`).
    pub const QUAKE: EntityRules =
        EntityRules { engines: "Quake engines", single_tokens: b"()':", ..EntityRules::GOLDSRC };

    /// QFusion: Quake 2's way of entities, with Quake 3's comments.
    pub const QFUSION: EntityRules =
        EntityRules { engines: "QFusion engines", block_comments: true, ..EntityRules::QUAKE2 };

    /// Quake 2: 128 bytes in the original engine, 1,024 in those in use today, where a full buffer reads as
    /// nothing (Yamagi Quake II `COM_Parse`); keys are copied into 256 bytes.
    pub const QUAKE2: EntityRules = EntityRules { engines: "Quake 2 engines", ..EntityRules::GOLDSRC };

    /// Quake 3: tokens of 1,023 bytes (ioquake3 `COM_ParseExt`), 64 pairs and 4,096 bytes an entity
    /// (`MAX_SPAWN_VARS`, `MAX_SPAWN_VARS_CHARS` in g_local.h).
    pub const QUAKE3: EntityRules = EntityRules {
        engines: "Quake 3 engines",
        max_key: 1023,
        max_pairs: Some(64),
        max_entity_bytes: Some(4096),
        block_comments: true,
        ..EntityRules::GOLDSRC
    };

    /// Source: tokens of 2,047 bytes (`MAPKEY_MAXLENGTH`, mapentities_shared.h); the brace tests look at the token
    /// and not at its quotes.
    pub const SOURCE: EntityRules = EntityRules {
        engines: "Source engines",
        max_token: 2047,
        max_key: 2047,
        lone_brace_breaks: true,
        ..EntityRules::GOLDSRC
    };
}
