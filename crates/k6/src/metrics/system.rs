//! The tags k6 sets by itself, and which of them a test wants.

use sonagi_measure::metrics::{AutomaticTag, AutomaticTags};

/// Makes [`SystemTag`] and the names of its tags.
macro_rules! tags {
    ($($tag:ident $name:literal;)*) => {
        /// A tag that is set by the tool, not by the script.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum SystemTag {
            $(#[doc = concat!("`", $name, "`")] $tag),*
        }

        /// Every system tag with its name, at its number.
        const NAMES: &[(SystemTag, &str)] = &[$((SystemTag::$tag, $name)),*];
    };
}

// Those a test has without asking come first, in k6's order.
tags! {
    Proto "proto";
    Subproto "subproto";
    Status "status";
    Method "method";
    Url "url";
    Name "name";
    Group "group";
    Check "check";
    Error "error";
    ErrorCode "error_code";
    TlsVersion "tls_version";
    Scenario "scenario";
    Service "service";
    ExpectedResponse "expected_response";
    Iter "iter";
    Vu "vu";
    OcspStatus "ocsp_status";
    Ip "ip";
}

const DEFAULTS: usize = 14;

use SystemTag::*;

impl AutomaticTag for SystemTag {
    fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    fn number(self) -> u32 {
        self as u32
    }

    fn is_metadata(self) -> bool {
        matches!(self, Iter | Vu)
    }
}

impl SystemTag {
    /// The tag of this name.
    pub fn named(name: &str) -> Option<SystemTag> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(tag, _)| *tag)
    }
}

/// The system tags a test wants (`systemTags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTags(AutomaticTags);

impl SystemTags {
    /// Exactly those of these names.
    ///
    /// # Errors
    /// The first name that is no system tag's.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<SystemTags, String> {
        names.into_iter().try_fold(SystemTags(AutomaticTags::default()), |set, name| {
            SystemTag::named(name.trim()).map(|tag| set.and(tag)).ok_or_else(|| name.to_owned())
        })
    }

    /// These and one more.
    pub fn and(self, tag: SystemTag) -> SystemTags {
        SystemTags(self.0.and(tag))
    }

    /// Whether the test wants it.
    pub fn has(self, tag: SystemTag) -> bool {
        self.0.has(tag)
    }

    /// The same for a sampler.
    pub(super) fn automatic(self) -> AutomaticTags {
        self.0
    }

    /// Those it wants, in k6's order.
    pub fn iter(self) -> impl Iterator<Item = SystemTag> {
        NAMES.iter().map(|(tag, _)| *tag).filter(move |tag| self.has(*tag))
    }
}

impl Default for SystemTags {
    fn default() -> SystemTags {
        NAMES[..DEFAULTS].iter().fold(SystemTags(AutomaticTags::default()), |set, (tag, _)| set.and(*tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tests_system_tags_are_fourteen_unless_it_says_which() {
        let names: Vec<_> = SystemTags::default().iter().map(SystemTag::name).collect();
        assert_eq!(
            names.join(","),
            "proto,subproto,status,method,url,name,group,check,error,error_code,tls_version,scenario,service,expected_response"
        );
        let two = SystemTags::named(["iter", " url"]).unwrap();
        assert_eq!(two.iter().collect::<Vec<_>>(), [Url, Iter]);
        assert_eq!(SystemTags::named(["url", "nope"]), Err("nope".to_owned()));
    }
    #[test]
    fn each_tag_stands_at_its_own_number() {
        assert!(NAMES.iter().enumerate().all(|(at, (tag, _))| *tag as usize == at));
    }
}
