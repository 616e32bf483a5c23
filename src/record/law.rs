//! The law of the two codecs: the one of `records!` and the one that binrw derives from the same declaration give the
//! same result for any bytes. `records!` makes a test of this for every struct that it declares.

use std::io::Cursor;

use binrw::{BinRead, BinWrite};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use super::Record;

/// Whether bytes that one codec decodes and the other encodes are unchanged, in both directions.
pub(crate) fn codecs_agree<R>() -> Result<(), TestError<Vec<u8>>>
where
    R: Record + for<'a> BinRead<Args<'a> = ()> + for<'a> BinWrite<Args<'a> = ()>,
{
    let bytes = prop::collection::vec(any::<u8>(), R::SIZE);
    TestRunner::deterministic().run(&bytes, |bytes| {
        let mut theirs = Cursor::new(Vec::new());
        R::decode(&bytes).unwrap().write_le(&mut theirs).unwrap();
        prop_assert_eq!(theirs.get_ref(), &bytes, "{} of binrw", R::INFO.name);
        let ours = R::read_le(&mut Cursor::new(&bytes)).unwrap().encode();
        prop_assert_eq!(&ours, &bytes, "{} of `records!`", R::INFO.name);
        Ok(())
    })
}

mod tests {
    use crate::record::declare::Codec;
    use crate::record::{Field, Record, RecordInfo, Shape};

    use super::codecs_agree;

    /// A codec with a planted fault: it exchanges two fields when it decodes and when it encodes, so that it agrees
    /// with itself.
    #[binrw::binrw]
    #[derive(Clone, Copy)]
    struct Exchanged {
        first: u16,
        second: u16,
    }

    impl Codec for Exchanged {
        fn read(bytes: &[u8]) -> Self {
            Exchanged { first: u16::read(&bytes[2..]), second: u16::read(bytes) }
        }

        fn write(&self, bytes: &mut [u8]) {
            self.first.write(&mut bytes[2..]);
            self.second.write(bytes);
        }
    }

    impl Field for Exchanged {
        const SIZE: usize = 4;
        const SHAPE: Shape = <[u16; 2]>::SHAPE;
    }

    impl Record for Exchanged {
        const INFO: &'static RecordInfo = &RecordInfo {
            name: "Exchanged",
            size: 4,
            fields: &[],
            reencode: crate::record::declare::reencode::<Exchanged>,
            type_id: std::any::TypeId::of::<Exchanged>,
        };
    }

    #[test]
    fn fields_in_another_order_are_caught() {
        let bytes = [1, 2, 3, 4];
        assert_eq!((Exchanged::INFO.reencode)(&bytes), bytes, "honest by itself");
        assert!(codecs_agree::<Exchanged>().unwrap_err().to_string().contains("Exchanged of binrw"));
    }
}
