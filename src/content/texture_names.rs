//! Names of textures wherever a family keeps them: in the textures themselves, or in records that name them.
