//! Hashes of passwords, made in memory that is used again and given back.
//!
//! Argon2 fills a block of memory for every hash. Taken anew for each login it comes out of the allocator's arena of
//! whichever thread has its turn, and stays in there: 300 logins left 341 MB. So there is one piece of memory for each
//! password that is verified at once, and none when nobody has logged in since the last look.
//!
//! Passwords are verified off the runtime's threads: Argon2 is made to be slow and would stall every connection of its
//! thread.

use std::sync::{Arc, Mutex};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};

use crate::config::{Error, Limits, PasswordCost};
use crate::sync::blocking::BlockingLimit;
use crate::sync::lock;

pub(crate) struct Passwords {
    verifying: BlockingLimit,
    memory: Arc<Memory>,
}

/// The memory for hashes; never more pieces than hashes at once.
#[derive(Default)]
struct Memory(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    pieces: Vec<Vec<Block>>,
    /// Whether a piece was taken since the last look.
    used: bool,
}

/// Blocks every piece has room for, most of it never touched: over 32 MiB glibc maps a piece for itself and unmaps it
/// when it is dropped, while one of 4 MiB would raise the size from which it does so (mallopt(3), M_MMAP_THRESHOLD).
const ROOM: usize = 33 * 1024;

impl Passwords {
    pub(crate) fn new(limits: &Limits) -> Passwords {
        Passwords { verifying: BlockingLimit::new(limits.logins_at_once), memory: Arc::default() }
    }

    /// The Argon2id hash of a password with a fresh salt, as a PHC string. Before the runtime's threads serve anybody.
    pub(crate) fn hash(&self, password: &str, cost: PasswordCost) -> Result<String, Error> {
        let hashed = || {
            let params = Params::new(cost.memory_kib, cost.passes, 1, None)?;
            let salt = Salt::generate();
            let hash = PasswordHash {
                algorithm: Algorithm::Argon2id.ident(),
                version: Some(Version::V0x13.into()),
                params: ParamsString::try_from(&params)?,
                hash: Some(self.memory.output(
                    Algorithm::Argon2id,
                    Version::V0x13,
                    params,
                    password,
                    &salt,
                )?),
                salt: Some(salt),
            };
            Ok::<_, argon2::password_hash::Error>(hash.to_string())
        };
        hashed().map_err(|error| Error::Secrets(error.to_string()))
    }

    /// Whether the hash is this password's; waits for a turn.
    pub(crate) async fn verify(&self, password: String, hash: Arc<str>) -> bool {
        let memory = self.memory.clone();
        let verified = self.verifying.run(move || memory.verify(&password, &hash).unwrap_or(false));
        verified.await.unwrap_or(false)
    }

    /// Gives the memory back that nothing was hashed in since the last call.
    pub(crate) fn sweep(&self) {
        let mut idle = lock(&self.memory.0);
        if !std::mem::take(&mut idle.used) {
            idle.pieces = Vec::new();
        }
    }
}

impl Memory {
    fn verify(&self, password: &str, hash: &str) -> argon2::password_hash::Result<bool> {
        let hash = PasswordHash::new(hash)?;
        let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return Ok(false) };
        let algorithm = Algorithm::try_from(hash.algorithm.as_str())?;
        let version = hash.version.map(Version::try_from).transpose()?.unwrap_or_default();
        let computed = self.output(algorithm, version, Params::try_from(&hash)?, password, salt)?;
        // Both are compared to the end, whatever they are.
        Ok(computed == *expected)
    }

    fn output(
        &self,
        algorithm: Algorithm,
        version: Version,
        params: Params,
        password: &str,
        salt: &[u8],
    ) -> argon2::password_hash::Result<Output> {
        let (blocks, length) =
            (params.block_count(), params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN));
        let mut piece = self.take();
        if piece.len() < blocks {
            piece.reserve_exact(blocks.max(ROOM) - piece.len());
            piece.resize(blocks, Block::new());
        }
        let argon2 = Argon2::new(algorithm, version, params);
        let mut output = [0; Output::MAX_LENGTH];
        let output = output.get_mut(..length).ok_or(argon2::password_hash::Error::OutputSize)?;
        let filled = argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, &mut piece[..]);
        lock(&self.0).pieces.push(piece);
        filled?;
        Ok(Output::new(output)?)
    }

    fn take(&self) -> Vec<Block> {
        let mut idle = lock(&self.0);
        idle.used = true;
        idle.pieces.pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    const COST: PasswordCost = PasswordCost { memory_kib: 64, passes: 2 };

    fn passwords(logins_at_once: usize) -> Passwords {
        Passwords::new(&Limits { logins_at_once, ..Limits::default() })
    }

    fn pieces(passwords: &Passwords) -> usize {
        lock(&passwords.memory.0).pieces.len()
    }

    #[tokio::test]
    async fn a_hash_is_one_of_argon2_whoever_made_it_and_whatever_the_memory_held_before() {
        let passwords = passwords(1);
        let ours: Arc<str> = passwords.hash("right", COST).unwrap().into();
        let parsed = PasswordHash::new(&ours).unwrap();
        assert!(Argon2::default().verify_password(b"right", &parsed).is_ok());
        assert!(ours.starts_with("$argon2id$v=19$m=64,t=2,p=1$"), "{ours}");
        assert_ne!(*ours, *passwords.hash("right", COST).unwrap(), "each has a salt of its own");
        // More memory than ours, then less again.
        let large = Argon2::new(Algorithm::Argon2i, Version::V0x10, Params::new(200, 3, 2, None).unwrap());
        let theirs: Arc<str> = large.hash_password(b"right").unwrap().to_string().into();
        for hash in [&ours, &theirs, &ours] {
            assert!(passwords.verify("right".to_owned(), hash.clone()).await);
            assert!(!passwords.verify("wrong".to_owned(), hash.clone()).await);
        }
        for nonsense in
            ["", "password", "$argon2id$v=19$m=64,t=2,p=1", "$argon2x$m=64,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g"]
        {
            assert!(!passwords.verify("right".to_owned(), nonsense.into()).await, "{nonsense}");
        }
    }

    #[tokio::test]
    async fn there_is_memory_for_as_many_as_are_verified_at_once_and_none_when_nobody_logs_in() {
        let passwords = Arc::new(passwords(2));
        let hash: Arc<str> = passwords.hash("right", COST).unwrap().into();
        let logins = (0..50).map(|_| {
            let (passwords, hash) = (passwords.clone(), hash.clone());
            tokio::spawn(async move { passwords.verify("right".to_owned(), hash).await })
        });
        for login in logins.collect::<Vec<_>>() {
            assert!(login.await.unwrap());
        }
        assert!((1..=2).contains(&pieces(&passwords)));
        passwords.sweep();
        assert!(pieces(&passwords) > 0, "used since the last look");
        passwords.sweep();
        assert_eq!(pieces(&passwords), 0);
        assert!(passwords.verify("right".to_owned(), hash).await);
    }
}
