//! Versions of the protocol and how two ends agree on one.

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 1.0: no escapes, no heart-beats, values may be padded with spaces.
    V1_0 = 0,
    /// 1.1: escapes, heart-beats, `NACK`; lines end with LF alone.
    V1_1 = 1,
    /// 1.2: lines may end with CR LF; `ACK` names a message by its `ack` header.
    V1_2 = 2,
}

impl Version {
    /// Every version, the oldest first.
    pub const ALL: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V1_2];

    /// The value of the `version` header.
    pub fn name(self) -> &'static str {
        ["1.0", "1.1", "1.2"][self as usize]
    }

    /// The version of this name.
    pub fn from_name(name: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.name() == name)
    }

    /// The WebSocket subprotocol's name.
    pub fn subprotocol(self) -> &'static str {
        ["v10.stomp", "v11.stomp", "v12.stomp"][self as usize]
    }

    /// The version a WebSocket subprotocol's name stands for.
    pub fn from_subprotocol(name: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.subprotocol() == name)
    }
}

/// A set of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions(u8);

impl Versions {
    /// All three.
    pub const ALL: Versions = Versions(0b111);

    /// This version only.
    pub const fn only(version: Version) -> Versions {
        Versions(1 << version as u8)
    }

    /// This set and one more.
    #[must_use]
    pub const fn and(self, version: Version) -> Versions {
        Versions(self.0 | 1 << version as u8)
    }

    /// Reads an `accept-version` header (1.1, 1.2 Protocol Negotiation). None is a client that speaks 1.0 alone;
    /// versions nobody here knows are left out.
    pub fn accepted(header: Option<&str>) -> Versions {
        let Some(list) = header else { return Versions::only(Version::V1_0) };
        list.split(',').filter_map(|name| Version::from_name(name.trim())).fold(Versions(0), Versions::and)
    }

    /// Whether the version is in the set.
    pub fn has(self, version: Version) -> bool {
        self.0 & Versions::only(version).0 != 0
    }

    /// The highest version both sets have; None when they share none.
    pub fn highest_common(self, other: Versions) -> Option<Version> {
        let common = Versions(self.0 & other.0);
        Version::ALL.into_iter().rev().find(|version| common.has(*version))
    }

    /// The value of an `accept-version` header, or of an ERROR frame's `version`: `1.0,1.1,1.2`.
    pub fn to_header(self) -> String {
        let names: Vec<&str> =
            Version::ALL.into_iter().filter(|version| self.has(*version)).map(Version::name).collect();
        names.join(",")
    }
}
