//! A Redis server as the home of a store: for workers on many machines.
//!
//! ```text
//! fozzy:shop:head              {"format": "fozzy-store", "version": 1, "project": "shop"}
//! fozzy:shop:v:targets         a hash for each folder: the last parts of keys, written as in a directory, and their values
//! fozzy:shop:b:3f2a…9b         a blob, by its content
//! fozzy:shop:s:collected       a hash for each set: a member, and the call that has added it
//! fozzy:shop:l:targets/bank    a lease: its holder's token; it ends by itself when it is not renewed
//! fozzy:shop:a:targets/bank    how often it was taken
//! ```
//!
//! A server that does not answer is asked again, for up to [`WAIT_MAX`], unless who asks has less time: it may be restarting, or the network be cut. So each request may be made
//! twice, and is written so that the second one changes nothing and answers the same; those of several steps are one script. Times are the
//! server's.
//!
//! Invariants: only keys of our own prefix are touched; an answer that the server has given is kept by it as it keeps data at all
//! (`appendfsync` says how much a power loss may cost); a server that evicts keys is refused; no password is in any text of ours.
//! Not here: failover and clusters. Not known to Redis: what a directory of git shows.

use super::{
    NAMES_MAX, SharedStore, SharedStoreError, StoreHead, StoreKey, StoreLease, VALUE_BYTES_MAX, bounded, read_part,
    size_of, without_password, written,
};
use crate::fleet::LEASE_RENEWAL;
use crate::wall_clock::{Stopwatch, pause};
use fozzy_trace::Digest;
use redis::{
    Client, Connection, ConnectionAddr, ErrorKind, FromRedisValue, IntoConnectionInfo, RedisError, RedisResult, Script,
    ServerErrorKind,
};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a server that does not answer is asked again: until the leases of who asks have ended.
const WAIT_MAX: Duration = LEASE_TIME;
/// How long one that was never reached is.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// Between two requests, at first and at most.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long one answer may take, and a connection.
const ANSWER_MAX: Duration = Duration::from_secs(20);
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How long a first one with TLS may take, before it is asked whether the server answers without; and later ones, where it does not.
const TLS_FIRST_MAX: Duration = Duration::from_secs(3);
const TLS_CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long the answer to that may take.
const PLAIN_MAX: Duration = Duration::from_secs(1);
/// Bytes of a blob: Redis has at most 512 MiB under one key.
const BLOB_BYTES_MAX: u64 = 500 << 20;
/// A lease ends when its holder was silent for so long.
const LEASE_TIME: Duration = Duration::from_secs(3 * LEASE_RENEWAL.as_secs());
/// Keys that the server looks at for one answer of a scan: some milliseconds, for which it answers nobody else.
const SCAN_STEP: u64 = 5000;
/// Bytes of the parts of an address.
const NAME_BYTES_MAX: usize = 200;
/// With what all keys begin, and the prefix of a store whose address names none.
const PREFIX: &str = "fozzy";

/// Adds a member for a call, which may be made twice: 1 if it is new by that call.
const INSERT: &str = "local was = redis.call('HGET', KEYS[1], ARGV[1])
if was then return was == ARGV[2] and 1 or 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1";

/// Gives a value another key; 1 if there was one, or the same call has done it before.
const RENAME: &str = "if redis.call('GET', KEYS[3]) then return 1 end
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], value)
if KEYS[1] ~= KEYS[2] or ARGV[1] ~= ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
redis.call('SET', KEYS[3], 1, 'EX', 3600)
return 1";

/// Takes a lease that is free, or that this call has taken: how often it was taken, or 0.
const ACQUIRE: &str = "local held = redis.call('GET', KEYS[1])
if held then
  if held ~= ARGV[1] then return 0 end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('GET', KEYS[2])
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])";

/// Keeps a lease; 0 if another has it. One that nobody has is taken again: its holder was silent, and nobody asked meanwhile.
const RENEW: &str = "local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
if not held and redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1";

/// Ends a lease, if it is still held.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

/// Whether a value of one of these hashes has a text in it: 1, or 0. They stay on the server.
const HAS_TEXT: &str = "for _, hash in ipairs(KEYS) do
  for _, value in ipairs(redis.call('HVALS', hash)) do
    if string.find(value, ARGV[1], 1, true) then return 1 end
  end
end
return 0";

/// A Redis server as the home of a store.
#[derive(Clone)]
pub struct RedisStore {
    connection: Arc<RedisConnection>,
    prefix: String,
    project: String,
    /// Whether it was seen to be the project's: until then, each request asks for that first.
    is_checked: Arc<AtomicBool>,
}

struct RedisConnection {
    client: Client,
    place: String,
    open: Mutex<Option<Connection>>,
    /// How long a request is made again, in milliseconds.
    wait_ms: AtomicU64,
    /// Whether it has ever answered: then it is spoken to in the right way.
    has_answered: AtomicBool,
    /// Whether a connection with TLS has taken long, and the server has no answer without.
    is_slow: AtomicBool,
}

impl RedisStore {
    /// Whether a text is the address of a server, and no folder.
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        ["redis://", "rediss://", "redis+unix://", "unix://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Opens the store of a project, and makes it where there is none.
    ///
    /// The address: `redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?prefix=NAME]`, `rediss://` with TLS, `redis+unix://[USER[:PASSWORD]@]/PATH`. Stores of several
    /// projects in one database have different prefixes.
    ///
    /// # Errors
    /// When it is no address, nobody answers there, or it is another project's or a newer version's store.
    pub fn open(address: &str, project: Option<&str>) -> Result<RedisStore, SharedStoreError> {
        let store = RedisStore::at(address)?;
        let project = store.check(project, FIRST_WAIT)?;
        Ok(RedisStore { project, ..store })
    }

    /// The same for one that may be away as yet: it is checked when it answers.
    ///
    /// # Errors
    /// Those of [`RedisStore::open`], except that nobody answers there.
    pub fn open_or_later(address: &str, project: &str) -> Result<RedisStore, SharedStoreError> {
        let store = RedisStore { project: project.to_owned(), ..RedisStore::at(address)? };
        match store.connection().err() {
            Some(SharedStoreError::Away { why, .. }) if is_hopeless(&why) => {
                Err(SharedStoreError::Foreign { place: store.place(), why })
            }
            None | Some(SharedStoreError::Away { .. }) => Ok(store),
            Some(error) => Err(error),
        }
    }

    /// Its server, once it is known to have the store of the project.
    fn connection(&self) -> Result<&RedisConnection, SharedStoreError> {
        if !self.is_checked.load(Ordering::SeqCst) {
            self.check(Some(&self.project), Duration::ZERO)?;
        }
        Ok(&self.connection)
    }

    /// Whose store it is; made where there is none and a project is named.
    fn check(&self, project: Option<&str>, wait: Duration) -> Result<String, SharedStoreError> {
        self.refuse_forgetful(wait)?;
        let key = format!("{}:head", self.prefix);
        let text = project.map(|project| serde_json::to_string(&StoreHead::of(project)).unwrap_or_default());
        let found: Option<Vec<u8>> = self.connection.ask("open", "its head", &|connection| {
            if let Some(text) = &text {
                redis::cmd("SET").arg(&key).arg(text).arg("NX").query::<Option<String>>(connection)?;
            }
            redis::cmd("GET").arg(&key).query(connection)
        })?;
        let none = || SharedStoreError::Foreign { place: self.place(), why: "no store is there".to_owned() };
        let project = StoreHead::check(&found.ok_or_else(none)?, project, &self.place())?;
        self.is_checked.store(true, Ordering::SeqCst);
        Ok(project)
    }

    fn at(address: &str) -> Result<RedisStore, SharedStoreError> {
        let shown = without_password(address);
        let foreign = |why: String| SharedStoreError::Foreign { place: shown.clone(), why };
        let (url, query) = address.split_once('?').unwrap_or((address, ""));
        if query.contains('@') {
            return Err(foreign(format!("what is behind its `?` has an `@`; {ESCAPES}")));
        }
        let mut prefix = PREFIX.to_owned();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("prefix", name)) if !name.is_empty() && name.len() <= NAME_BYTES_MAX => {
                    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
                        return Err(foreign(format!(
                            "its prefix `{name}` has more than letters, digits, `-`, `_` and `.`"
                        )));
                    }
                    name.clone_into(&mut prefix);
                }
                _ => return Err(foreign(format!("`{part}` is understood as nothing; known is prefix=NAME"))),
            }
        }
        if !is_port_fit(url) {
            return Err(foreign("its port is none: expected a number from 0 to 65535".to_owned()));
        }
        let info = with_socket_password(url).as_str().into_connection_info().map_err(|error| foreign(said(&error)))?;
        let place = match info.addr() {
            ConnectionAddr::Unix(path) => format!("redis+unix://{}", path.display()),
            other => format!("{}://{other}", if matches!(other, ConnectionAddr::Tcp(..)) { "redis" } else { "rediss" }),
        };
        let place = format!("{place}/{}?prefix={prefix}", info.redis_settings().db());
        let client = Client::open(info).map_err(|error| foreign(said(&error)))?;
        let wait_ms = AtomicU64::new(WAIT_MAX.as_millis() as u64);
        let (open, has_answered, is_slow) = (Mutex::new(None), AtomicBool::new(false), AtomicBool::new(false));
        let connection = Arc::new(RedisConnection { client, place, open, wait_ms, has_answered, is_slow });
        // Always two words: one that is called like a kind of key is no part of another store.
        let prefix = format!("{PREFIX}:{prefix}");
        Ok(RedisStore { connection, prefix, project: String::new(), is_checked: Arc::default() })
    }

    /// Refuses a server that forgets. It is the first that is asked of it: one that is not there is soon said to be so.
    fn refuse_forgetful(&self, wait: Duration) -> Result<(), SharedStoreError> {
        let info: String = self.connection.within(wait, "reach", &self.connection.place, &|connection| {
            redis::cmd("INFO").arg("memory").query(connection)
        })?;
        let field = |name: &str| {
            let row = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            row.map(|value| value.trim().to_owned()).unwrap_or_default()
        };
        let (policy, most) = (field("maxmemory_policy"), field("maxmemory"));
        if most != "0" && !policy.is_empty() && policy != "noeviction" {
            let why =
                format!("it forgets keys when its memory is full (maxmemory-policy {policy}); set it to noeviction");
            return Err(SharedStoreError::Foreign { place: self.place(), why });
        }
        Ok(())
    }

    fn key(&self, kind: &str, rest: &str) -> String {
        format!("{}:{kind}:{rest}", self.prefix)
    }

    fn key_of(&self, kind: &str, parts: &[String]) -> Result<String, SharedStoreError> {
        let parts = parts.iter().map(|part| written(part)).collect::<Result<Vec<String>, _>>()?;
        Ok(self.key(kind, &parts.join("/")))
    }

    /// The hash in which a value is, and its field.
    fn value(&self, key: &StoreKey) -> Result<(String, String), SharedStoreError> {
        let (last, folder) = key.parts().split_last().ok_or_else(|| self.nameless())?;
        Ok((self.key_of("v", folder)?, written(last)?))
    }

    fn nameless(&self) -> SharedStoreError {
        SharedStoreError::Foreign { place: self.place(), why: "a value without a name".to_owned() }
    }

    fn ask<T: FromRedisValue>(
        &self,
        what: &'static str,
        key: &StoreKey,
        command: &redis::Cmd,
    ) -> Result<T, SharedStoreError> {
        self.connection()?.ask(what, &key.to_string(), &|connection| command.query(connection))
    }

    fn blob(&self, name: &Digest) -> String {
        self.key("b", &name.to_string())
    }

    fn token() -> String {
        uuid::Uuid::new_v4().simple().to_string()
    }
}

impl SharedStore for RedisStore {
    fn get(&self, key: &StoreKey) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let (hash, field) = self.value(key)?;
        let found: Option<Vec<u8>> = self.ask("read", key, redis::cmd("HGET").arg(hash).arg(field))?;
        if let Some(found) = &found {
            bounded(format_args!("the value {key} has a size"), found.len() as u64, VALUE_BYTES_MAX as u64)?;
        }
        Ok(found)
    }

    fn put(&self, key: &StoreKey, value: &[u8]) -> Result<(), SharedStoreError> {
        bounded(format_args!("the value {key} has a size"), value.len() as u64, VALUE_BYTES_MAX as u64)?;
        let (hash, field) = self.value(key)?;
        self.ask::<i64>("write", key, redis::cmd("HSET").arg(hash).arg(field).arg(value)).map(drop)
    }

    fn delete(&self, key: &StoreKey) -> Result<bool, SharedStoreError> {
        let (hash, field) = self.value(key)?;
        self.ask("delete", key, redis::cmd("HDEL").arg(hash).arg(field))
    }

    fn list(&self, folder: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        let hash = self.key_of("v", folder.parts())?;
        let count: u64 = self.ask("list", folder, redis::cmd("HLEN").arg(&hash))?;
        bounded(format_args!("{folder} has a number of names"), count, NAMES_MAX as u64)?;
        let fields: Vec<String> = self.ask("list", folder, redis::cmd("HKEYS").arg(&hash))?;
        let mut names: Vec<String> = fields.iter().filter_map(|field| read_part(field)).collect();
        names.sort();
        Ok(names)
    }

    fn folders(&self) -> Result<Vec<StoreKey>, SharedStoreError> {
        let start = self.key("v", "");
        let of_key = |key: &String| {
            let parts = key.strip_prefix(&start)?;
            let parts = parts.split('/').filter(|part| !part.is_empty());
            Some(StoreKey(parts.map(read_part).collect::<Option<Vec<String>>>()?))
        };
        let mut folders: Vec<StoreKey> = self.connection()?.scan(&start)?.iter().filter_map(of_key).collect();
        folders.sort();
        Ok(folders)
    }

    fn has_text(&self, folders: &[StoreKey], text: &str) -> Result<bool, SharedStoreError> {
        let script = Script::new(HAS_TEXT);
        let mut call = script.prepare_invoke();
        for folder in folders {
            call.key(self.key_of("v", folder.parts())?);
        }
        call.arg(text);
        self.connection()?.ask("read", text, &|connection| call.invoke(connection))
    }

    fn has_name(&self, folders: &[StoreKey], name: &str) -> Result<bool, SharedStoreError> {
        if folders.is_empty() {
            return Ok(false);
        }
        let field = written(name)?;
        let mut pipe = redis::pipe();
        for folder in folders {
            pipe.cmd("HEXISTS").arg(self.key_of("v", folder.parts())?).arg(&field);
        }
        let found = self.connection()?.ask("read", name, &|connection| pipe.query::<Vec<bool>>(connection))?;
        Ok(found.contains(&true))
    }

    fn rename(&self, from: &StoreKey, to: &StoreKey) -> Result<bool, SharedStoreError> {
        let ((from_hash, from_field), (to_hash, to_field)) = (self.value(from)?, self.value(to)?);
        let done = self.key("d", &RedisStore::token());
        let script = Script::new(RENAME);
        let mut call = script.key(from_hash);
        call.key(to_hash).key(done).arg(from_field).arg(to_field);
        self.connection()?.ask("rename", &from.to_string(), &|connection| call.invoke(connection))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, SharedStoreError> {
        bounded("a blob has a size", bytes.len() as u64, BLOB_BYTES_MAX)?;
        let name = Digest::of(bytes);
        let key = self.blob(&name);
        // To look whether it is there, and not changed in place, takes as many bytes.
        let write = |connection: &mut Connection| redis::cmd("SET").arg(&key).arg(bytes).query::<()>(connection);
        self.connection()?.ask("write", &name.to_string(), &write)?;
        Ok(name)
    }

    fn get_blob(&self, name: &Digest) -> Result<Option<Vec<u8>>, SharedStoreError> {
        let key = self.blob(name);
        let read = |connection: &mut Connection| redis::cmd("GET").arg(&key).query(connection);
        let Some(bytes) = self.connection()?.ask::<Option<Vec<u8>>>("read", &name.to_string(), &read)? else {
            return Ok(None);
        };
        match Digest::of(&bytes) == *name {
            true => Ok(Some(bytes)),
            false => Err(SharedStoreError::Damaged { path: format!("{} in {}", self.blob(name), self.place()) }),
        }
    }

    fn get_blobs(&self, names: &[Digest]) -> Result<Vec<Option<Vec<u8>>>, SharedStoreError> {
        let Some(first) = names.first() else { return Ok(Vec::new()) };
        let keys: Vec<String> = names.iter().map(|name| self.blob(name)).collect();
        let read = |connection: &mut Connection| redis::cmd("MGET").arg(&keys).query(connection);
        let found: Vec<Option<Vec<u8>>> = self.connection()?.ask("read", &first.to_string(), &read)?;
        Ok(names.iter().zip(found).map(|(name, bytes)| bytes.filter(|bytes| Digest::of(bytes) == *name)).collect())
    }

    fn has_blobs(&self, names: &[Digest]) -> Result<Vec<bool>, SharedStoreError> {
        let Some(first) = names.first() else { return Ok(Vec::new()) };
        let mut pipe = redis::pipe();
        for name in names {
            pipe.cmd("EXISTS").arg(self.blob(name));
        }
        self.connection()?.ask("read", &first.to_string(), &|connection| pipe.query::<Vec<bool>>(connection))
    }

    fn values(&self, folder: &StoreKey) -> Result<Vec<(String, Vec<u8>)>, SharedStoreError> {
        let hash = self.key_of("v", folder.parts())?;
        let count: u64 = self.ask("list", folder, redis::cmd("HLEN").arg(&hash))?;
        bounded(format_args!("{folder} has a number of names"), count, NAMES_MAX as u64)?;
        let fields: Vec<(String, Vec<u8>)> = self.ask("read", folder, redis::cmd("HGETALL").arg(&hash))?;
        let read = |(field, value): (String, Vec<u8>)| read_part(&field).map(|name| (name, value));
        let mut values: Vec<(String, Vec<u8>)> = fields.into_iter().filter_map(read).collect();
        values.sort();
        Ok(values)
    }

    fn put_named_blobs(&self, folder: &StoreKey, blobs: &[Vec<u8>]) -> Result<(), SharedStoreError> {
        let hash = self.key_of("v", folder.parts())?;
        let mut pipe = redis::pipe();
        for bytes in blobs {
            bounded("a blob has a size", bytes.len() as u64, BLOB_BYTES_MAX)?;
            let name = Digest::of(bytes);
            pipe.cmd("SET").arg(self.blob(&name)).arg(bytes).ignore();
            pipe.cmd("HSET").arg(&hash).arg(written(&name.to_string())?).arg(size_of(bytes)).ignore();
        }
        self.connection()?.ask("write", &folder.to_string(), &|connection| pipe.query::<()>(connection))
    }

    fn delete_blob(&self, name: &Digest) -> Result<bool, SharedStoreError> {
        let key = self.blob(name);
        let delete = |connection: &mut Connection| redis::cmd("DEL").arg(&key).query(connection);
        self.connection()?.ask("delete", &name.to_string(), &delete)
    }

    fn blobs(&self) -> Result<Vec<Digest>, SharedStoreError> {
        let start = self.key("b", "");
        let keys = self.connection()?.scan(&start)?;
        let mut names: Vec<Digest> = keys.iter().filter_map(|key| Digest::parse(key.strip_prefix(&start)?)).collect();
        names.sort();
        Ok(names)
    }

    fn blob_path(&self, _: &Digest) -> Option<PathBuf> {
        None
    }

    fn insert(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        bounded(format_args!("a member of {set} has a size"), member.len() as u64, VALUE_BYTES_MAX as u64)?;
        let (key, token, script) = (self.key_of("s", set.parts())?, RedisStore::token(), Script::new(INSERT));
        let mut call = script.key(key);
        call.arg(member).arg(token);
        self.connection()?.ask("add to", &set.to_string(), &|connection| call.invoke(connection))
    }

    fn remove(&self, set: &StoreKey, member: &str) -> Result<bool, SharedStoreError> {
        let key = self.key_of("s", set.parts())?;
        self.ask("remove from", set, redis::cmd("HDEL").arg(key).arg(member))
    }

    fn members(&self, set: &StoreKey) -> Result<Vec<String>, SharedStoreError> {
        let key = self.key_of("s", set.parts())?;
        let count: u64 = self.ask("list", set, redis::cmd("HLEN").arg(&key))?;
        bounded(format_args!("{set} has a number of members"), count, NAMES_MAX as u64)?;
        let mut members: Vec<String> = self.ask("list", set, redis::cmd("HKEYS").arg(&key))?;
        members.sort();
        Ok(members)
    }

    fn acquire(&self, key: &StoreKey, holder: &str) -> Result<Option<Box<dyn StoreLease>>, SharedStoreError> {
        let (lease, count) = (self.key_of("l", key.parts())?, self.key_of("a", key.parts())?);
        let holder: String = holder.chars().filter(|c| !c.is_control()).take(NAME_BYTES_MAX).collect();
        let token = format!("{holder} {}", RedisStore::token());
        let script = Script::new(ACQUIRE);
        let mut call = script.key(&lease);
        call.key(&count).arg(&token).arg(LEASE_TIME.as_millis() as u64);
        let attempt: u64 = self.connection()?.ask("take", &key.to_string(), &|connection| call.invoke(connection))?;
        let connection = Arc::clone(&self.connection);
        let taken = RedisLease { connection, lease, count, token, attempt, name: key.to_string() };
        Ok((attempt > 0).then(|| Box::new(taken) as Box<dyn StoreLease>))
    }

    fn holder(&self, key: &StoreKey) -> Result<Option<String>, SharedStoreError> {
        let token: Option<String> = self.ask("read", key, redis::cmd("GET").arg(self.key_of("l", key.parts())?))?;
        Ok(token.and_then(|token| Some(token.rsplit_once(' ')?.0.to_owned())))
    }

    fn wait_at_most(&self, time: Duration) {
        self.connection.wait_ms.store(time.as_millis() as u64, Ordering::Relaxed);
    }

    fn answers(&self) -> bool {
        // One that is full answers, and takes nothing.
        let key = self.key("d", "alive");
        let write = |connection: &mut Connection| {
            redis::cmd("SET").arg(&key).arg(1).arg("PX").arg(1000).query::<()>(connection)
        };
        match self.connection() {
            Ok(connection) => connection.within(Duration::ZERO, "reach", &self.connection.place, &write).is_ok(),
            // One that is refused is there; the next request says why.
            Err(error) => !matches!(error, SharedStoreError::Away { .. }),
        }
    }

    fn project(&self) -> &str {
        &self.project
    }

    fn place(&self) -> String {
        self.connection.place.clone()
    }
}

/// A lease that ends when its holder is silent.
struct RedisLease {
    connection: Arc<RedisConnection>,
    lease: String,
    count: String,
    token: String,
    attempt: u64,
    name: String,
}

impl StoreLease for RedisLease {
    fn renew(&mut self) -> Result<bool, SharedStoreError> {
        let script = Script::new(RENEW);
        let mut call = script.key(&self.lease);
        call.key(&self.count).arg(&self.token).arg(LEASE_TIME.as_millis() as u64).arg(self.attempt);
        // Whoever holds a lease has more to do than to wait.
        self.connection.within(Duration::ZERO, "renew", &self.name, &|connection| call.invoke(connection))
    }

    fn attempt(&self) -> u64 {
        self.attempt
    }
}

impl Drop for RedisLease {
    fn drop(&mut self) {
        let script = Script::new(RELEASE);
        let mut call = script.key(&self.lease);
        call.arg(&self.token);
        // Without an answer it ends by itself.
        let release = |connection: &mut Connection| call.invoke::<u64>(connection);
        let _ = self.connection.within(Duration::ZERO, "release", &self.name, &release);
    }
}

/// A request, which may be made twice.
type RedisRequest<'a, T> = &'a dyn Fn(&mut Connection) -> RedisResult<T>;

impl RedisConnection {
    fn ask<T>(&self, what: &'static str, path: &str, request: RedisRequest<'_, T>) -> Result<T, SharedStoreError> {
        self.within(Duration::from_millis(self.wait_ms.load(Ordering::Relaxed)), what, path, request)
    }

    /// Makes a request, again and again as long as the server is away.
    fn within<T>(
        &self,
        wait: Duration,
        what: &'static str,
        path: &str,
        request: RedisRequest<'_, T>,
    ) -> Result<T, SharedStoreError> {
        let (watch, mut next) = (Stopwatch::start(), PAUSE_MIN);
        loop {
            let error = match self.once(request) {
                Ok(answer) => {
                    self.has_answered.store(true, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let advice = self.advice(&error);
            // Without TLS it does not answer in TLS, however long it is waited for.
            if !is_away(&error) || advice == NO_TLS || watch.elapsed() >= wait {
                let path = if path == self.place { path.to_owned() } else { format!("{path} in {}", self.place) };
                let why = said(&error) + advice;
                if is_away(&error) || is_full(&error) {
                    return Err(SharedStoreError::Away { what, path, why });
                }
                return Err(SharedStoreError::Io { what, path, error: io::Error::other(why) });
            }
            pause(next);
            next = (next * 2).min(PAUSE_MAX);
        }
    }

    /// What may be wrong with the address of a server that takes connections and has never answered.
    fn advice(&self, error: &RedisError) -> &'static str {
        if self.has_answered.load(Ordering::Relaxed) {
            return "";
        }
        let text = error.to_string();
        // Connected, and no answer in time; or an answer in something else. A connection that is not made in time says otherwise.
        let is_silent = self.is_tls() && text.contains("temporarily unavailable");
        let is_no_tls = text.contains("corrupt message") || is_silent && self.answers_plainly();
        if is_silent && !is_no_tls {
            self.is_slow.store(true, Ordering::Relaxed);
            return SILENT;
        }
        if self.is_tls() && error.is_timeout() {
            self.is_slow.store(true, Ordering::Relaxed);
        }
        let is_dropped = error.is_connection_dropped() && !error.is_connection_refusal();
        let is_closed = is_dropped || matches!(error.kind(), ErrorKind::Parse);
        match tls_advice(&self.place, is_no_tls) {
            "" => plain_advice(&self.place, is_closed),
            advice => advice,
        }
    }

    fn is_tls(&self) -> bool {
        self.place.starts_with("rediss://")
    }

    /// Whether a server that was asked in TLS, and says nothing, answers without: then it is not merely slow. One with TLS answers with an alert.
    fn answers_plainly(&self) -> bool {
        let ConnectionAddr::TcpTls { host, port, .. } = self.client.get_connection_info().addr() else { return false };
        let ask = || -> io::Result<u8> {
            let connect = |address| TcpStream::connect_timeout(&address, PLAIN_MAX).ok();
            let mut stream = (host.as_str(), *port)
                .to_socket_addrs()?
                .find_map(connect)
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
            stream.set_read_timeout(Some(PLAIN_MAX))?;
            stream.set_write_timeout(Some(PLAIN_MAX))?;
            stream.write_all(b"PING\r\n")?;
            let mut first = [0];
            stream.read_exact(&mut first)?;
            Ok(first[0])
        };
        ask().is_ok_and(|first| b"+-".contains(&first))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn once<T>(&self, request: RedisRequest<'_, T>) -> RedisResult<T> {
        let mut open = self.lock();
        let connection = match &mut *open {
            Some(connection) => connection,
            None => {
                let is_known = [&self.has_answered, &self.is_slow].iter().any(|known| known.load(Ordering::Relaxed));
                let most = match (self.is_tls(), is_known) {
                    (true, true) => TLS_CONNECT_MAX,
                    (true, false) => TLS_FIRST_MAX,
                    (false, _) => CONNECT_MAX,
                };
                let connection = self.client.get_connection_with_timeout(most)?;
                connection.set_read_timeout(Some(ANSWER_MAX))?;
                connection.set_write_timeout(Some(ANSWER_MAX))?;
                open.insert(connection)
            }
        };
        let answer = request(connection);
        // What the answer of a broken request would be is not read as that of the next one.
        if answer.as_ref().is_err_and(|error| !matches!(error.kind(), ErrorKind::Server(_))) {
            *open = None;
        }
        answer
    }

    /// All keys that begin so.
    fn scan(&self, start: &str) -> Result<Vec<String>, SharedStoreError> {
        let mut pattern = String::new();
        for letter in start.chars() {
            if "*?[]\\^".contains(letter) {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern.push('*');
        let (mut keys, mut cursor) = (Vec::new(), 0_u64);
        loop {
            let scan = |connection: &mut Connection| {
                redis::cmd("SCAN").arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN_STEP).query(connection)
            };
            let (next, found): (u64, Vec<String>) = self.ask("list", start, &scan)?;
            keys.extend(found);
            bounded(format_args!("{} has a number of names", self.place), keys.len() as u64, NAMES_MAX as u64)?;
            if next == 0 {
                break;
            }
            cursor = next;
        }
        keys.sort();
        keys.dedup();
        Ok(keys)
    }
}

/// Whether the port of an address is one, if it has one. What is before its last `@` may be a password, and is not looked at.
fn is_port_fit(url: &str) -> bool {
    let server = ["redis://", "rediss://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let server = server.map(|rest| rest.rsplit_once('@').map_or(rest, |(_, server)| server));
    let host = server.and_then(|server| server.split(['/', '#']).next()).unwrap_or_default();
    match host.rsplit_once(':') {
        // `[::1]` has none.
        Some((_, port)) if !port.is_empty() && !port.ends_with(']') => port.parse::<u16>().is_ok(),
        _ => true,
    }
}

/// The address of a socket with its user and password where the client looks for them: behind its path.
fn with_socket_password(url: &str) -> String {
    let socket = ["redis+unix://", "unix://"].iter().find_map(|scheme| Some((*scheme, url.strip_prefix(scheme)?)));
    let named = socket.and_then(|(scheme, rest)| {
        let (before, path) = rest.split_at(rest.find('/')?);
        Some((scheme, before.strip_suffix('@')?, path))
    });
    let Some((scheme, named, path)) = named else { return url.to_owned() };
    // In a query a plus would be a space.
    let (user, password) = named.split_once(':').unwrap_or((named, ""));
    let pairs = [("user", user), ("pass", password)].into_iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", value.replace('+', "%2B"))).collect();
    format!("{scheme}{path}?{}", pairs.join("&"))
}

/// Whether the server may answer later.
fn is_away(error: &RedisError) -> bool {
    let is_busy = matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::BusyLoading | ServerErrorKind::TryAgain | ServerErrorKind::MasterDown)
    );
    is_busy
        || error.is_connection_dropped()
        || error.is_connection_refusal()
        || error.is_timeout()
        || error.is_io_error()
}

/// Whether the server takes nothing more until somebody sees to it.
fn is_full(error: &RedisError) -> bool {
    let text = error.to_string();
    ["OOM", "MISCONF", "READONLY"].iter().any(|word| text.contains(word))
}

/// What to do about a server that was asked in TLS and says nothing.
pub(super) fn tls_advice(place: &str, is_silent: bool) -> &'static str {
    match place.starts_with("rediss://") && is_silent {
        true => NO_TLS,
        false => "",
    }
}

/// What to do about a server that was asked without TLS and closes the connection, or answers in something else.
pub(super) fn plain_advice(place: &str, is_closed: bool) -> &'static str {
    match place.starts_with("redis://") && is_closed {
        true => MAYBE_TLS,
        false => "",
    }
}

/// Whether nothing changes by waiting for a server that says this at the first request: the address is wrong, or who asks may not.
pub(super) fn is_hopeless(why: &str) -> bool {
    why.ends_with(NO_TLS) || ["invalid peer certificate", "Permission denied"].iter().any(|words| why.contains(words))
}

/// What is known of a server that was asked in TLS, and may be slow.
const SILENT: &str = "; it takes connections, and says nothing in TLS";
/// What may be wrong with an address with TLS, and with one without.
const NO_TLS: &str = "; it may not speak TLS on this port: redis:// is without";
const MAYBE_TLS: &str = "; it may speak TLS on this port: rediss:// is with";

/// How users and passwords are written in an address.
const ESCAPES: &str = "in a user and a password, `:` is written %3A, `/` %2F, `?` %3F, `#` %23, `@` %40 and `%` %25 \
                       (percent-encoding)";

/// What an error says, and what to do.
pub(super) fn said(error: &RedisError) -> String {
    let text = error.to_string();
    let advice = [
        ("NOAUTH", "it wants a password: redis://:PASSWORD@HOST, in the environment variable FOZZY_STORE"),
        ("AuthenticationFailed", "the name or the password is wrong"),
        ("WRONGPASS", "the name or the password is wrong"),
        ("OOM", "its memory is full: raise maxmemory"),
        ("MISCONF", "it cannot write its own disk"),
        ("READONLY", "it is a replica: name the server that it copies"),
        ("NOPERM", "the user may not do that: it needs hashes, strings and scripts below `fozzy:*`"),
        ("WRONGTYPE", "something else has a key of ours: name another prefix, ?prefix=NAME"),
        ("MOVED", "it is a cluster, which is not supported"),
        (
            "invalid peer certificate",
            "the machine does not trust it: the environment variable SSL_CERT_FILE names the authorities that have signed it; that of \
             an authority itself is not taken",
        ),
        ("did not parse", ESCAPES),
    ];
    let found = advice.iter().find(|(word, _)| text.contains(word));
    let is_no_redis = matches!(error.kind(), ErrorKind::Parse);
    match (found, is_no_redis) {
        (Some((_, advice)), _) => format!("{text}; {advice}"),
        (None, true) => format!("{text}; what answers is no Redis server"),
        (None, false) => text,
    }
}
