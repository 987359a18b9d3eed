//! Users, their friends, their passwords and their access tokens.
//!
//! All users are in memory; the store only keeps them over a restart. Tokens live in memory alone and end with the
//! process (`tokens`), unless services share a store and take each other's (`signed_tokens`). How passwords are
//! verified is in `passwords`.

pub(crate) mod credentials;
pub(crate) mod directory;
pub(crate) mod passwords;
pub(crate) mod rate_limit;
pub(crate) mod signed_tokens;
pub(crate) mod tokens;
pub(crate) mod user;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::accounts::passwords::Passwords;
use crate::accounts::rate_limit::Buckets;
use crate::accounts::signed_tokens::SignedTokens;
use crate::accounts::tokens::{Bounds, Tokens};
use directory::Directory;
use user::User;

use crate::config::{Error, Limits};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::store::{Relations, UserRow};
use crate::sync::lock;

/// Bytes of an email address, as SMTP bounds it (RFC 5321). What is longer takes no bucket.
const EMAIL: usize = 254;

pub(crate) struct Accounts {
    by_id: HashMap<u64, Arc<User>>,
    by_email: HashMap<String, u64>,
    directory: Directory,
    tokens: Issuer,
    secrets: Secrets,
    passwords: Passwords,
    /// Verified when the email is unknown, so that the answer takes as long.
    /// `None` in the null mode: any password is right, and nobody is throttled.
    decoy: Option<Arc<str>>,
    by_email_rate: Buckets<String>,
    by_address_rate: Option<Buckets<IpAddr>>,
}

/// Who gives access tokens and knows whose they are.
enum Issuer {
    Remembers(Mutex<Tokens>),
    Signs(SignedTokens),
}

/// A login that was granted.
pub(crate) struct Granted {
    pub(crate) token: String,
    pub(crate) user: Arc<User>,
}

impl Accounts {
    pub(crate) fn new(
        users: Vec<UserRow>,
        relations: Relations,
        passwords: Passwords,
        decoy: Option<String>,
        token_secret: Option<&str>,
        limits: &Limits,
    ) -> Result<Accounts, Error> {
        let Relations { friends, sponsors, mut posts } = relations;
        let mut friends_of = grouped(friends.iter().copied());
        let mut sponsored_by = grouped(sponsors.iter().copied());
        let mut sponsors_of = grouped(sponsors.iter().map(|(user, sponsored)| (*sponsored, *user)));
        // Seeded users share one hash: keep its text once.
        let mut texts: HashMap<String, Arc<str>> = HashMap::new();
        let mut by_id = HashMap::with_capacity(users.len());
        let mut by_email = HashMap::with_capacity(users.len());
        for UserRow { id, email, username, password } in users {
            let password = texts.entry(password).or_insert_with_key(|text| text.as_str().into()).clone();
            by_email.insert(email.clone(), id);
            let user = User {
                id,
                email,
                username,
                password,
                friends: friends_of.remove(&id).unwrap_or_default(),
                sponsors: sponsors_of.remove(&id).unwrap_or_default(),
                sponsored: sponsored_by.remove(&id).unwrap_or_default(),
                posts: posts.remove(&id).unwrap_or_default().into(),
            };
            by_id.insert(id, Arc::new(user));
        }
        let bounds =
            Bounds { lifetime: limits.token_lifetime, all: limits.tokens, per_user: limits.tokens_per_user };
        Ok(Accounts {
            directory: Directory::new(by_id.values().map(|user| &**user)),
            by_id,
            by_email,
            tokens: match token_secret {
                Some(secret) => Issuer::Signs(SignedTokens::new(secret, limits.token_lifetime)),
                None => Issuer::Remembers(Mutex::new(Tokens::new(bounds))),
            },
            secrets: Secrets::open()?,
            passwords,
            decoy: decoy.map(Into::into),
            by_email_rate: Buckets::new(limits.login_per_email),
            by_address_rate: limits.login_per_address.map(Buckets::new),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn user(&self, id: u64) -> Option<&Arc<User>> {
        self.by_id.get(&id)
    }

    /// Counts a message of this user; 0 is nobody.
    pub(crate) fn has_said(&self, id: u64) {
        if let Some(user) = self.by_id.get(&id) {
            user.posts.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn by_email(&self, email: &str) -> Option<&Arc<User>> {
        self.by_id.get(self.by_email.get(email)?)
    }

    /// Throttles before anything costly, so that hammering costs the hammer and not the service.
    pub(crate) async fn login(
        &self,
        email: &str,
        password: &str,
        from: IpAddr,
        metrics: &Metrics,
    ) -> Result<Granted, Problem> {
        if email.len() > EMAIL {
            return Err(Problem::bad_request(format!("an email address has at most {EMAIL} bytes")));
        }
        let Some(decoy) = &self.decoy else {
            let user = self.by_email(email).cloned().ok_or_else(|| self.wrong_credentials())?;
            metrics.logins.add(1);
            return Ok(Granted { token: self.token(user.id)?, user });
        };
        let now = Instant::now();
        let wait = self
            .by_address_rate
            .as_ref()
            .and_then(|rate| rate.take(from, now).err())
            .or_else(|| self.by_email_rate.take(email.to_owned(), now).err());
        if let Some(wait) = wait {
            metrics.limited_logins.add(1);
            return Err(Problem {
                retry_after: Some(wait.as_secs() + 1),
                ..Problem::new(429, "too_many_logins", "too many logins, try again later")
            });
        }
        let user = self.by_email(email).cloned();
        let hash = user.as_ref().map_or_else(|| decoy.clone(), |user| user.password.clone());
        let right = self.passwords.verify(password.to_owned(), hash).await;
        match user {
            Some(user) if right => {
                let token = self.token(user.id)?;
                metrics.logins.add(1);
                Ok(Granted { token, user })
            }
            _ => {
                metrics.failed_logins.add(1);
                Err(self.wrong_credentials())
            }
        }
    }

    fn wrong_credentials(&self) -> Problem {
        match self.by_id.is_empty() {
            true => Problem::no_accounts(),
            false => Problem::wrong_credentials(),
        }
    }

    /// A new access token of a user.
    pub(crate) fn token(&self, user: u64) -> Result<String, Problem> {
        match &self.tokens {
            Issuer::Signs(tokens) => Ok(tokens.give(user, &self.secrets.hex(6), now_seconds())),
            Issuer::Remembers(tokens) => {
                let text = self.secrets.hex(24);
                match lock(tokens).give(&text, user, Instant::now()) {
                    true => Ok(text),
                    false => Err(Problem::new(503, "too_many_tokens", "too many access tokens are valid")),
                }
            }
        }
    }

    /// The user of a valid token.
    pub(crate) fn who(&self, token: &str) -> Option<u64> {
        match &self.tokens {
            // One of a user that was added after this service read them is nobody's here.
            Issuer::Signs(tokens) => {
                tokens.who(token, now_seconds()).filter(|user| self.by_id.contains_key(user))
            }
            Issuer::Remembers(tokens) => lock(tokens).who(token, Instant::now()),
        }
    }

    /// Forgets what time has made meaningless.
    pub(crate) fn sweep(&self, now: Instant) {
        if let Issuer::Remembers(tokens) = &self.tokens {
            lock(tokens).sweep(now);
        }
        self.passwords.sweep();
        self.by_email_rate.sweep(now);
        if let Some(rate) = &self.by_address_rate {
            rate.sweep(now);
        }
    }

    /// A name nobody can guess, for sessions.
    pub(crate) fn session_id(&self) -> String {
        self.secrets.hex(15)
    }
}

fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// By the first of each pair, the second ones in their order.
fn grouped(pairs: impl Iterator<Item = (u64, u64)>) -> HashMap<u64, Vec<u64>> {
    let mut groups: HashMap<u64, Vec<u64>> = HashMap::new();
    for (user, other) in pairs {
        groups.entry(user).or_default().push(other);
    }
    groups
}

/// The system's randomness, read in runs.
struct Secrets(Mutex<BufReader<File>>);

impl Secrets {
    fn open() -> Result<Secrets, Error> {
        let file = File::open("/dev/urandom").map_err(|error| Error::Secrets(error.to_string()))?;
        Ok(Secrets(Mutex::new(BufReader::with_capacity(480, file))))
    }

    /// `count` random bytes (at most 32) in hexadecimal. A system without randomness cannot be served safely.
    fn hex(&self, count: usize) -> String {
        let mut bytes = [0; 32];
        let bytes = &mut bytes[..count];
        lock(&self.0).read_exact(bytes).expect("/dev/urandom never ends and never fails once open");
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
