//! Which of JavaScript's built-in objects a script can reach: each costs every user some kilobytes.
//!
//! The script's words decide, wherever they stand: a word too many costs memory, a word missed would break a script. A
//! script that makes code of texts, or looks its globals up by computed names, gets all of them.

use sonagi_transpile::Plain;

/// The groups of built-ins that can be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Intrinsics {
    pub(crate) regexp: bool,
    pub(crate) proxy: bool,
    pub(crate) map_set: bool,
    pub(crate) typed_arrays: bool,
    pub(crate) bigint: bool,
    pub(crate) weak_ref: bool,
    pub(crate) performance: bool,
    /// The global `crypto`.
    pub(crate) crypto: bool,
    /// `TextEncoder` and `TextDecoder`.
    pub(crate) text: bool,
    /// `Math.random` of its own: the interpreter's begins with the microsecond, which users share.
    pub(crate) random: bool,
    /// Something lists the members of objects: those of a response are its own then, not its class's.
    pub(crate) own_members: bool,
    pub(crate) language: Language,
}

/// Parts of the language that behave as in k6 at a cost (`modules::language`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Language {
    /// `stack` of errors.
    pub(crate) stack: bool,
    /// Dates as texts.
    pub(crate) dates: bool,
    /// `localeCompare`.
    pub(crate) order: bool,
    /// Functions as texts. They cost 20 KiB a user, so only scripts that may say anything have them: `toString` is
    /// every number's, too.
    pub(crate) functions: bool,
}

impl Language {
    fn or(self, other: Language) -> Language {
        Language {
            stack: self.stack | other.stack,
            dates: self.dates | other.dates,
            order: self.order | other.order,
            functions: self.functions | other.functions,
        }
    }

    /// The parts that `self` has and `other` has not.
    fn without(self, other: Language) -> Language {
        Language {
            stack: self.stack && !other.stack,
            dates: self.dates && !other.dates,
            order: self.order && !other.order,
            functions: self.functions && !other.functions,
        }
    }
}

/// Continuations of `Date` or `new Date()` that make no text of it.
const NO_TEXT_OF_DATE: &[&str] = &[
    ".now",
    ".UTC",
    ".parse",
    "().getTime",
    "().toISOString",
    "().valueOf",
    "().toJSON",
    "().getFullYear",
    "() -",
];

/// Words that give code from texts, or globals by names that are computed.
const ANYTHING: &[&str] = &["eval", "globalThis", "global", "Function", "Reflect", "constructor"];
/// Functions that list the members of an object; a text of three dots spreads one.
const LISTING: &[&str] = &[
    "assign",
    "hasOwn",
    "hasOwnProperty",
    "propertyIsEnumerable",
    "getOwnPropertyNames",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
];
/// Functions that list members where they are called or taken of `Object`: a metric of a summary has `values`, too.
const LISTING_CALLED: &[&str] = &["keys", "values", "entries"];
const REGEXP: &[&str] = &["RegExp", "match", "matchAll", "search"];
/// Typed arrays by name, and what of k6 gives or takes binary data.
const BINARY: &[&str] = &[
    "ArrayBuffer",
    "Uint8Array",
    "Uint8ClampedArray",
    "Uint16Array",
    "Uint32Array",
    "Int8Array",
    "Int16Array",
    "Int32Array",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
    "DataView",
    "byteLength",
    "isView",
    "Atomics",
    "SharedArrayBuffer",
    "binary",
    "binaryMessage",
    "sendBinary",
    "binaryType",
    "Blob",
    "arrayBuffer",
    "arraybuffer",
    "randomBytes",
    "b64decode",
    "TextEncoder",
    "TextDecoder",
    "crypto",
    "webcrypto",
    "digest",
    "file",
    "FormData",
    "streams",
    "fs",
];

impl Intrinsics {
    /// All of them.
    pub(crate) const ALL: Intrinsics = Intrinsics {
        regexp: true,
        proxy: true,
        map_set: true,
        typed_arrays: true,
        bigint: true,
        weak_ref: true,
        performance: true,
        crypto: true,
        text: true,
        random: true,
        own_members: true,
        language: Language { stack: true, dates: true, order: true, functions: true },
    };

    /// Everything this source may reach.
    pub(crate) fn of(source: &Plain) -> Intrinsics {
        if words(&source.code).any(|word| ANYTHING.contains(&word)) {
            return Intrinsics::ALL;
        }
        Intrinsics::named(&source.code, source.has_regexps)
    }

    /// Everything reached by a source of ours, which calls all of it by name.
    pub(crate) fn named(code: &str, has_regexps: bool) -> Intrinsics {
        let own_members = code.contains("...");
        let mut reached = Intrinsics { regexp: has_regexps, own_members, ..Intrinsics::default() };
        // `open(path, 'b')` gives bytes; the word alone is every socket's event.
        let (mut opens, mut as_bytes) = (false, false);
        for word in words(code) {
            opens |= word == "open";
            as_bytes |= word == "b";
            reached.regexp |= REGEXP.contains(&word);
            reached.own_members |= LISTING.contains(&word)
                || LISTING_CALLED.contains(&word) && is_called(code, word)
                || word == "Object" && !after(code, word).starts_with('.');
            reached.proxy |= word == "Proxy";
            reached.map_set |= matches!(word, "Map" | "Set" | "WeakMap" | "WeakSet" | "groupBy");
            reached.typed_arrays |= BINARY.contains(&word);
            reached.bigint |= word == "BigInt" || is_bigint(word);
            reached.weak_ref |= matches!(word, "WeakRef" | "FinalizationRegistry");
            reached.crypto |= matches!(word, "crypto" | "webcrypto");
            reached.text |= matches!(word, "TextEncoder" | "TextDecoder");
            reached.random |= word == "random";
            reached.performance |= word == "performance";
            reached.language.stack |= word == "stack";
            reached.language.order |= word == "localeCompare";
            reached.language.dates |=
                word == "Date" && !NO_TEXT_OF_DATE.iter().any(|next| after(code, word).starts_with(next));
        }
        reached.typed_arrays |= opens && as_bytes;
        reached.map_set |= reached.typed_arrays;
        reached
    }

    /// The parts of the language that it reaches and `other` did not.
    pub(crate) fn newly_spoken(self, other: Intrinsics) -> Language {
        self.language.without(other.language)
    }

    /// Everything that either reaches.
    pub(crate) fn or(self, other: Intrinsics) -> Intrinsics {
        Intrinsics {
            regexp: self.regexp | other.regexp,
            proxy: self.proxy | other.proxy,
            map_set: self.map_set | other.map_set,
            typed_arrays: self.typed_arrays | other.typed_arrays,
            bigint: self.bigint | other.bigint,
            weak_ref: self.weak_ref | other.weak_ref,
            performance: self.performance | other.performance,
            crypto: self.crypto | other.crypto,
            text: self.text | other.text,
            random: self.random | other.random,
            own_members: self.own_members | other.own_members,
            language: self.language.or(other.language),
        }
    }
}

/// Whether a word of the code is called, or is a member of `Object`, which may be called by another name.
fn is_called(code: &str, word: &str) -> bool {
    let rest = after(code, word);
    let before = &code[..code.len() - rest.len() - word.len()];
    rest.starts_with('(')
        || rest.starts_with("?.(")
        || before.ends_with("Object.")
        || before.ends_with("Object?.")
}

/// The text behind one of the code's words.
fn after<'a>(code: &'a str, word: &str) -> &'a str {
    &code[word.as_ptr().addr() + word.len() - code.as_ptr().addr()..]
}

/// `10n`.
fn is_bigint(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit()) && word.ends_with('n')
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(code: &str) -> Intrinsics {
        Intrinsics::of(&sonagi_transpile::plain(Path::new("a.js"), code).unwrap())
    }

    #[test]
    fn a_script_gets_the_built_ins_whose_words_it_says() {
        let none = Intrinsics::default();
        assert_eq!(of("export default () => JSON.parse('{}').a / 2"), none);
        assert_eq!(of("'a'.replace(/a/, 'b')"), Intrinsics { regexp: true, ..none });
        assert_eq!(of("'a'.match('b')"), Intrinsics { regexp: true, ..none });
        assert_eq!(of("const seen = new Map()"), Intrinsics { map_set: true, ..none });
        assert_eq!(of("new Uint8Array(1)"), Intrinsics { typed_arrays: true, map_set: true, ..none });
        assert_eq!(of("Object.keys(r)"), Intrinsics { own_members: true, ..none });
        assert_eq!(of("f({ ...r })"), Intrinsics { own_members: true, ..none });
        for lists in [
            "const { values: of } = Object",
            "a.map(Object.entries)",
            "const o = Object; o.values(r)",
            "Object['ke' + 'ys'](r)",
            "keys?.(r)",
        ] {
            assert_eq!(of(lists), Intrinsics { own_members: true, ..none }, "{lists}");
        }
        assert_eq!(of("data.metrics.http_reqs.values.count + data.keys"), none);
        assert_eq!(of("socket.on('open', () => {})"), none);
        assert_eq!(of("open('a.bin', 'b')"), Intrinsics { typed_arrays: true, map_set: true, ..none });
        assert_eq!(of("const n = 10n"), Intrinsics { bigint: true, ..none });
        assert_eq!(of("Date.now() - new Date().getTime() + (7).toString(36)"), none);
        for (says, language) in [
            ("`${new Date(0)}`", Language { dates: true, ..Language::default() }),
            ("e.stack", Language { stack: true, ..Language::default() }),
            ("a.sort((a, b) => a.localeCompare(b))", Language { order: true, ..Language::default() }),
        ] {
            assert_eq!(of(says), Intrinsics { language, ..none }, "{says}");
        }
        assert_eq!(of("globalThis['M' + 'ap']"), Intrinsics::ALL);
    }
}
