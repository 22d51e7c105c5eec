//! What is known of files besides their content: attributes, times, identity.

use crate::cases;
use crate::place::{Answer, CREATE, FOLLOW, Place, READ, STAY, WRITE, plain};
use crate::show::Show;
use wasip2::filesystem::types::{Datetime, Descriptor, DescriptorStat, NewTimestamp, PathFlags};

const MOMENT: NewTimestamp = NewTimestamp::Timestamp(Datetime { seconds: 1_000_000_000, nanoseconds: 123_456_789 });
const OTHER: NewTimestamp = NewTimestamp::Timestamp(Datetime { seconds: 1_234_567_890, nanoseconds: 1 });
const EPOCH: NewTimestamp = NewTimestamp::Timestamp(Datetime { seconds: 0, nanoseconds: 0 });
const NOW: NewTimestamp = NewTimestamp::Now;
const KEEP: NewTimestamp = NewTimestamp::NoChange;

/// Seconds and nanoseconds of the last access and the last change.
type Times = ((u64, u32), (u64, u32));

fn times(stat: &DescriptorStat) -> Times {
    let pair = |time: Option<Datetime>| time.map(|time| (time.seconds, time.nanoseconds)).expect("the host knows it");
    (pair(stat.data_access_timestamp), pair(stat.data_modification_timestamp))
}

/// Times of what stands at a path, links not followed.
fn times_at(d: &Place, path: &str) -> Answer<Times> {
    d.stat_at(STAY, path).map(|stat| times(&stat))
}

/// Whether both times are later than the year 2017: set to the current time, not to one of ours.
fn is_recent(times: Times) -> (bool, bool) {
    (times.0.0 > 1_500_000_000, times.1.0 > 1_500_000_000)
}

/// Identity of what stands at a path, not to be shown.
fn identity(d: &Place, flags: PathFlags, path: &str) -> (u64, u64) {
    let hash = d.metadata_hash_at(flags, path).expect("it is there");
    (hash.lower, hash.upper)
}

/// Each answer to setting the times of a path.
fn set(d: &Place, paths: &[&str]) -> String {
    paths.iter().map(|path| d.set_times_at(STAY, path, MOMENT, OTHER)).collect::<Vec<_>>().show()
}

cases! {
    Together "filesystem/types.descriptor.stat" "of a file" |d| d.made("a", b"hello").stat().map(plain);
    Together "filesystem/types.descriptor.stat" "of a directory" |d| d.stat().map(plain);
    Together "filesystem/types.descriptor.stat" "after more names and fewer" |d| {
        let file = d.made("a", b"");
        let mut seen = vec![file.stat().map(plain)];
        d.link_at(STAY, "a", d, "b").unwrap();
        seen.push(file.stat().map(plain));
        d.unlink_file_at("a").unwrap();
        seen.push(file.stat().map(plain));
        d.unlink_file_at("b").unwrap();
        seen.push(file.stat().map(plain));
        seen
    };
    Together "filesystem/types.descriptor.stat" "through a descriptor for writing" |d| {
        d.put("a", b"hello");
        d.open("a", WRITE).stat().map(plain)
    };
    Together "filesystem/types.descriptor.stat" "every time is known" |d| {
        d.made("a", b"").stat().map(|stat| {
            [stat.data_access_timestamp, stat.data_modification_timestamp, stat.status_change_timestamp]
                .map(|time| time.is_some())
        })
    };
    Together "filesystem/types.descriptor.stat" "a write changes the time of the content" |d| {
        let file = d.made("a", b"hello");
        file.set_times(MOMENT, MOMENT).unwrap();
        file.write(b"j", 0).unwrap();
        file.stat().map(|stat| is_recent(times(&stat)).1)
    };
    Together "filesystem/types.descriptor.stat" "a new entry changes the time of a directory" |d| {
        d.folder("a");
        d.set_times_at(STAY, "a", MOMENT, MOMENT).unwrap();
        d.put("a/x", b"");
        times_at(d, "a").map(|times| is_recent(times).1)
    };
    Together "filesystem/types.descriptor.stat" "a rename keeps the time of the content" |d| {
        d.put("a", b"");
        d.set_times_at(STAY, "a", MOMENT, OTHER).unwrap();
        d.rename_at("a", d, "b").unwrap();
        times_at(d, "b")
    };
    Together "filesystem/types.descriptor.stat" "truncation changes the time of the content" |d| {
        let file = d.made("a", b"hello");
        file.set_times(MOMENT, MOMENT).unwrap();
        file.set_size(1).unwrap();
        file.stat().map(|stat| is_recent(times(&stat)).1)
    };
    Together "filesystem/types.descriptor.stat-at" "each kind" |d| {
        d.put("a", b"hello");
        d.folder("b");
        d.link("nowhere", "c");
        ["a", "b", "c", "."].map(|path| d.stat_at(STAY, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "links" |d| {
        d.put("a", b"hello");
        d.link("a", "l");
        d.link("nowhere", "m");
        d.link("o", "o");
        [(STAY, "l"), (FOLLOW, "l"), (FOLLOW, "m"), (STAY, "o"), (FOLLOW, "o")]
            .map(|(flags, path)| d.stat_at(flags, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "what is not there, or out of reach" |d| {
        d.put("a", b"");
        ["x", "a/b", "..", "../x", "/", "/x", ""].map(|path| d.stat_at(STAY, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "the same, links followed" |d| {
        d.put("a", b"");
        ["x", "a/b", "..", "../x", "/", "/x", ""].map(|path| d.stat_at(FOLLOW, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "with a slash at the end" |d| {
        d.put("a", b"");
        d.folder("b");
        ["a/", "b/", "b/."].map(|path| d.stat_at(FOLLOW, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "with a slash at the end, links not followed" |d| {
        d.put("a", b"");
        d.folder("b");
        d.link("b", "l");
        ["a/", "b/", "b/.", "l/", "b/../a"].map(|path| d.stat_at(STAY, path).map(plain))
    };
    Together "filesystem/types.descriptor.stat-at" "from a file" |d| d.made("a", b"").stat_at(STAY, "b").map(plain);

    Together "filesystem/types.descriptor.set-times" "both" |d| {
        let file = d.made("a", b"");
        (file.set_times(MOMENT, OTHER), file.stat().map(|stat| times(&stat)))
    };
    Together "filesystem/types.descriptor.set-times" "one of them" |d| {
        let file = d.made("a", b"");
        file.set_times(MOMENT, MOMENT).unwrap();
        [(KEEP, OTHER), (EPOCH, KEEP)].map(|(accessed, modified)| {
            (file.set_times(accessed, modified), file.stat().map(|stat| times(&stat)))
        })
    };
    Together "filesystem/types.descriptor.set-times" "neither" |d| {
        let file = d.made("a", b"");
        file.set_times(MOMENT, OTHER).unwrap();
        (file.set_times(KEEP, KEEP), file.stat().map(|stat| times(&stat)))
    };
    Together "filesystem/types.descriptor.set-times" "to now" |d| {
        let file = d.made("a", b"");
        file.set_times(MOMENT, OTHER).unwrap();
        (file.set_times(NOW, NOW), file.stat().map(|stat| is_recent(times(&stat))))
    };
    Together "filesystem/types.descriptor.set-times" "of a directory" |d| {
        (d.set_times(MOMENT, OTHER), d.stat().map(|stat| times(&stat)))
    };
    Together "filesystem/types.descriptor.set-times" "through a descriptor for reading" |d| {
        d.put("a", b"");
        (d.open("a", READ).set_times(MOMENT, OTHER), times_at(d, "a"))
    };
    Together "filesystem/types.descriptor.set-times" "beyond all time" |d| {
        let never = NewTimestamp::Timestamp(Datetime { seconds: u64::MAX, nanoseconds: 0 });
        d.made("a", b"").set_times(never, KEEP)
    };
    Together "filesystem/types.descriptor.set-times" "a second and more in nanoseconds" |d| {
        let odd = NewTimestamp::Timestamp(Datetime { seconds: 1, nanoseconds: 1_500_000_000 });
        let file = d.made("a", b"");
        file.set_times(MOMENT, OTHER).unwrap();
        (file.set_times(odd, odd), file.stat().map(|stat| times(&stat)))
    };
    Together "filesystem/types.descriptor.set-times-at" "of a file and a directory" |d| {
        d.put("a", b"");
        d.folder("b");
        (set(d, &["a", "b"]), times_at(d, "a"), times_at(d, "b"))
    };
    Together "filesystem/types.descriptor.set-times-at" "of a link itself" |d| {
        d.put("a", b"");
        d.link("a", "l");
        (set(d, &["l"]), times_at(d, "l"), times_at(d, "a").map(is_recent))
    };
    Together "filesystem/types.descriptor.set-times-at" "through a link" |d| {
        d.put("a", b"");
        d.link("a", "l");
        (d.set_times_at(FOLLOW, "l", MOMENT, OTHER), times_at(d, "a"), times_at(d, "l").map(|times| is_recent(times).1))
    };
    Together "filesystem/types.descriptor.set-times-at" "what is not there, or out of reach" |d| {
        d.put("a", b"");
        set(d, &["x", "a/b", "..", "../x", "/x", ""])
    };
    Together "filesystem/types.descriptor.set-times-at" "a dangling link" |d| {
        d.link("nowhere", "l");
        (d.set_times_at(FOLLOW, "l", MOMENT, OTHER), d.set_times_at(STAY, "l", MOMENT, OTHER))
    };
    Together "filesystem/types.descriptor.set-times-at" "neither time of what is missing" |d| {
        (d.set_times_at(STAY, "x", KEEP, KEEP), d.set_times_at(FOLLOW, "x", KEEP, KEEP))
    };
    Together "filesystem/types.descriptor.set-times-at" "to now" |d| {
        d.put("a", b"");
        set(d, &["a"]);
        (d.set_times_at(STAY, "a", NOW, KEEP), times_at(d, "a").map(is_recent))
    };

    Together "filesystem/types.descriptor.metadata-hash" "the same while nothing changes" |d| {
        let one = d.made("a", b"");
        let hash = |of: &Descriptor| of.metadata_hash().map(|hash| (hash.lower, hash.upper)).unwrap();
        (hash(&one) == hash(&one), hash(&one) == hash(&d.open("a", READ)), hash(&one) == identity(d, STAY, "a"))
    };
    Together "filesystem/types.descriptor.metadata-hash" "two files differ" |d| {
        d.put("a", b"");
        d.put("b", b"");
        identity(d, STAY, "a") != identity(d, STAY, "b")
    };
    Together "filesystem/types.descriptor.metadata-hash" "of a directory" |d| {
        let (one, other) = (d.metadata_hash().unwrap(), d.metadata_hash().unwrap());
        (one.lower, one.upper) == (other.lower, other.upper)
    };
    Together "filesystem/types.descriptor.metadata-hash" "after a write" |d| {
        let file = d.made("a", b"");
        let before = identity(d, STAY, "a");
        file.write(b"more", 0).unwrap();
        before == identity(d, STAY, "a")
    };
    Together "filesystem/types.descriptor.metadata-hash" "after a rename" |d| {
        d.open_at(STAY, "a", CREATE, WRITE).unwrap();
        let before = identity(d, STAY, "a");
        d.rename_at("a", d, "b").unwrap();
        before == identity(d, STAY, "b")
    };
    Together "filesystem/types.descriptor.metadata-hash-at" "links" |d| {
        d.put("a", b"");
        d.link("a", "l");
        let file = identity(d, STAY, "a");
        (file == identity(d, FOLLOW, "l"), file == identity(d, STAY, "l"))
    };
    Together "filesystem/types.descriptor.metadata-hash-at" "two names of one file" |d| {
        d.put("a", b"");
        d.link_at(STAY, "a", d, "b").unwrap();
        identity(d, STAY, "a") == identity(d, STAY, "b")
    };
    Together "filesystem/types.descriptor.metadata-hash-at" "what is not there, or out of reach" |d| {
        d.put("a", b"");
        ["x", "a/b", "..", "/x", ""].map(|path| d.metadata_hash_at(STAY, path).map(|_| ()))
    };
}
