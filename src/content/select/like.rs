//! Classes with `*` and `?` in them.

/// Whether a class matches a pattern, at worst in time proportional to the product of their lengths.
pub(super) fn is_like(class: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Where to continue if the run that the last `*` matches has to be longer.
    let mut retry = None;
    while at < class.len() {
        match pattern.get(next) {
            Some(b'*') => {
                retry = Some((at, next));
                next += 1;
            }
            Some(letter) if *letter == b'?' || letter.eq_ignore_ascii_case(&class[at]) => {
                at += 1;
                next += 1;
            }
            _ => match &mut retry {
                Some((from, star)) => {
                    *from += 1;
                    (at, next) = (*from, *star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|&letter| letter == b'*')
}
