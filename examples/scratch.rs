use bspkit::content::entities::Entities;
use bspkit::dialect::EntityRules;
use std::time::Instant;
fn text(n: usize) -> Vec<u8> {
    let mut t = Vec::new();
    for i in 0..n {
        t.extend(format!("{{\n\"classname\" \"{}\"\n\"origin\" \"{} {} 64\"\n\"angles\" \"0 90 0\"\n\"targetname\" \"door_{i}\"\n\"spawnflags\" \"{}\"\n\"target\" \"path_{i}\"\n\"light\" \"300\"\n}}\n", if i==0 {"worldspawn"} else {"func_door_rotating"}, i*3, i*7, i%64).bytes());
    }
    t.push(0);
    t
}
fn main() {
    for n in [20_000, 100_000] {
        let t = text(n);
        let mut best = f64::MAX;
        for _ in 0..10 {
            let s = Instant::now();
            let e = Entities::parse(&t[..], EntityRules::SOURCE).unwrap();
            best = best.min(s.elapsed().as_secs_f64());
            assert_eq!(e.len(), n);
        }
        println!("{n}: {} bytes parse {:.1} ms, {:.0} MB/s", t.len(), best * 1e3, t.len() as f64 / best / 1e6);
        let mut e = Entities::parse(&t[..], EntityRules::SOURCE).unwrap();
        let s = Instant::now();
        for i in 0..n {
            e.entity_mut(i).unwrap().set("light", "250").unwrap();
        }
        let a = s.elapsed();
        for i in 0..n {
            e.entity_mut(i).unwrap().set("new", "1").unwrap();
        }
        let b = s.elapsed();
        let out = e.to_bytes();
        let c = s.elapsed();
        let d = {
            let k = e.clone();
            k.len()
        };
        let d2 = s.elapsed();
        let mut f = e.clone();
        f.remove_all(&(1..n).step_by(2).collect::<Vec<_>>()).unwrap();
        println!(
            "set {:?} push {:?} print {:?} ({}) clone {:?} {d} rm {:?}",
            a,
            b - a,
            c - b,
            out.len(),
            d2 - c,
            s.elapsed() - d2
        );
        let s = Instant::now();
        for _ in 0..20 {
            std::hint::black_box(e.clone());
        }
        println!("clone {:?}", s.elapsed() / 20);
        let s = Instant::now();
        std::hint::black_box(e.canonical());
        println!("canonical {:?}", s.elapsed());
    }
    for (name, t) in [
        ("open", vec![b'{'; 1_000_000]),
        ("close", vec![b'}'; 1_000_000]),
        ("quotes", vec![b'"'; 2_000_000]),
        ("lf", vec![b'\n'; 100_000_000]),
        ("word", vec![b'a'; 10_000_000]),
        ("string", {
            let mut v = vec![b'a'; 100_000_000];
            v[0] = b'"';
            v
        }),
        ("ab", b"a b ".repeat(1_000_000)),
        ("comments", b"//\n".repeat(3_000_000)),
        ("long", [vec![b'"'], vec![b'\n'; 60_000_000], vec![b'"'], b"{}".repeat(500_000)].concat()),
    ] {
        let s = Instant::now();
        let r = Entities::parse(&t[..], EntityRules::QUAKE3);
        let rss = std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
            .to_owned();
        println!("{name}: {:?} {:?} {rss}", s.elapsed(), r.map(|e| e.len()).map_err(|e| e.to_string()));
    }
}
