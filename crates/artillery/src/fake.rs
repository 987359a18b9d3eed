//! Made-up data for templates: names, addresses, words. Drawn from the user's own random numbers, so that a run with
//! the same seed makes up the same.
//!
//! The names are those of Artillery's plugin `fake-data`, which has its data from Faker: the module's name and the
//! function's in one word. Of its several hundred functions these are the ones that requests are made of.

use fake::Fake as _;
use fake::faker::{
    address, company, creditcard, currency, filesystem, finance, internet, job, lorem, name, phone_number,
};
use fake::rand::TryRng;
use std::convert::Infallible;
use std::fmt;

/// A kind of made-up data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fake {
    index: u8,
    least: i64,
    most: i64,
}

struct FakeFunction {
    name: &'static str,
    /// The range of its number, length or count; None: there is nothing to choose.
    range: Option<(i64, i64)>,
    make: fn(&mut Dice<'_>, i64, i64) -> String,
}

impl Fake {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<Fake> {
        let index = ENTRIES.iter().position(|entry| entry.name == name)?;
        let (least, most) = ENTRIES[index].range.unwrap_or_default();
        Some(Fake { index: u8::try_from(index).ok()?, least, most })
    }

    /// All names, in their order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ENTRIES.iter().map(|entry| entry.name)
    }

    /// With another range of its number, length or count; None when it has none, or the range is none.
    pub fn within(self, least: Option<i64>, most: Option<i64>) -> Option<Fake> {
        ENTRIES[usize::from(self.index)].range?;
        let fake = Fake { least: least.unwrap_or(self.least), most: most.unwrap_or(self.most), ..self };
        (fake.least <= fake.most).then_some(fake)
    }

    /// Makes one up.
    pub(crate) fn text(self, rng: &mut fastrand::Rng) -> String {
        (ENTRIES[usize::from(self.index)].make)(&mut Dice(rng), self.least, self.most)
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FakeFunction { name, range, .. } = &ENTRIES[usize::from(self.index)];
        f.write_str(name)?;
        if range.is_some() { write!(f, " {} to {}", self.least, self.most) } else { Ok(()) }
    }
}

/// A user's random numbers as the data's library wants them.
struct Dice<'r>(&'r mut fastrand::Rng);

impl TryRng for Dice<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.u32(..))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.u64(..))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(bytes);
        Ok(())
    }
}

impl Dice<'_> {
    fn one<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.0.usize(..list.len())]
    }

    fn letters(&mut self, of: &[u8], least: i64, most: i64) -> String {
        let length = self.0.i64(least..=most).clamp(0, 100_000);
        (0..length).map(|_| char::from(of[self.0.usize(..of.len())])).collect()
    }

    fn count(&mut self, least: i64, most: i64) -> std::ops::Range<usize> {
        let count = self.0.i64(least..=most).clamp(0, 10_000) as usize;
        count..count + 1
    }
}

/// Data that is a text drawn by the library.
macro_rules! drawn {
    ($name:literal, $kind:expr) => {
        FakeFunction { name: $name, range: None, make: |dice, _, _| $kind.fake_with_rng::<String, _>(dice) }
    };
}

const fn entry(name: &'static str, make: fn(&mut Dice<'_>, i64, i64) -> String) -> FakeFunction {
    FakeFunction { name, range: None, make }
}

const fn ranged(
    name: &'static str,
    least: i64,
    most: i64,
    make: fn(&mut Dice<'_>, i64, i64) -> String,
) -> FakeFunction {
    FakeFunction { name, range: Some((least, most)), make }
}

const DIGITS: &[u8] = b"0123456789";
const HEX: &[u8] = b"0123456789abcdef";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BOTH: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const URL_SAFE: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
const COLORS: &[&str] = &[
    "azure", "black", "blue", "cyan", "gold", "green", "grey", "indigo", "ivory", "lavender", "lime",
    "magenta", "olive", "orange", "orchid", "pink", "plum", "red", "salmon", "silver", "tan", "teal",
    "violet", "white", "yellow",
];
const ADJECTIVES: &[&str] = &[
    "Bright",
    "Elegant",
    "Fresh",
    "Handmade",
    "Light",
    "Modern",
    "Practical",
    "Quiet",
    "Refined",
    "Rustic",
    "Small",
    "Soft",
    "Sturdy",
];
const MATERIALS: &[&str] = &[
    "Bamboo", "Bronze", "Ceramic", "Cotton", "Glass", "Granite", "Leather", "Linen", "Steel", "Wooden",
    "Wool",
];
const PRODUCTS: &[&str] = &[
    "Bag", "Ball", "Bottle", "Bowl", "Chair", "Gloves", "Hat", "Keyboard", "Lamp", "Mouse", "Shoes", "Table",
    "Towel",
];
const DEPARTMENTS: &[&str] = &[
    "Baby",
    "Books",
    "Clothing",
    "Electronics",
    "Games",
    "Garden",
    "Grocery",
    "Health",
    "Home",
    "Music",
    "Outdoors",
    "Sports",
    "Tools",
    "Toys",
];
const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: &[&str] = &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const ENTRIES: &[FakeFunction] = &[
    drawn!("personFirstName", name::en::FirstName()),
    drawn!("personLastName", name::en::LastName()),
    drawn!("personMiddleName", name::en::FirstName()),
    drawn!("personFullName", name::en::Name()),
    drawn!("personPrefix", name::en::Title()),
    drawn!("personSuffix", name::en::Suffix()),
    entry("personSex", |dice, _, _| dice.one(&["female", "male"]).to_owned()),
    drawn!("personJobTitle", job::en::Title()),
    drawn!("personJobArea", job::en::Field()),
    drawn!("personJobType", job::en::Position()),
    drawn!("internetEmail", internet::en::FreeEmail()),
    drawn!("internetExampleEmail", internet::en::SafeEmail()),
    drawn!("internetUsername", internet::en::Username()),
    drawn!("internetDisplayName", internet::en::Username()),
    ranged("internetPassword", 15, 15, |dice, least, most| dice.letters(BOTH, least, most)),
    entry("internetUrl", |dice, _, _| format!("https://{}/", domain(dice))),
    entry("internetDomainName", |dice, _, _| domain(dice)),
    drawn!("internetDomainWord", lorem::en::Word()),
    drawn!("internetDomainSuffix", internet::en::DomainSuffix()),
    drawn!("internetIp", internet::en::IPv4()),
    drawn!("internetIpv4", internet::en::IPv4()),
    drawn!("internetIpv6", internet::en::IPv6()),
    entry("internetPort", |dice, _, _| dice.0.u16(..).to_string()),
    drawn!("internetMac", internet::en::MACAddress()),
    drawn!("internetUserAgent", internet::en::UserAgent()),
    entry("internetHttpMethod", |dice, _, _| dice.one(&["GET", "POST", "PUT", "DELETE", "PATCH"]).to_owned()),
    drawn!("locationCity", address::en::CityName()),
    drawn!("locationCountry", address::en::CountryName()),
    drawn!("locationCountryCode", address::en::CountryCode()),
    drawn!("locationState", address::en::StateName()),
    drawn!("locationStreet", address::en::StreetName()),
    entry("locationStreetAddress", |dice, _, _| {
        let number: String = address::en::BuildingNumber().fake_with_rng(dice);
        format!("{number} {}", address::en::StreetName().fake_with_rng::<String, _>(dice))
    }),
    drawn!("locationSecondaryAddress", address::en::SecondaryAddress()),
    drawn!("locationBuildingNumber", address::en::BuildingNumber()),
    entry("locationZipCode", |dice, _, _| dice.letters(DIGITS, 5, 5)),
    drawn!("locationTimeZone", address::en::TimeZone()),
    entry("locationLatitude", |dice, _, _| format!("{:.4}", dice.0.f64() * 180.0 - 90.0)),
    entry("locationLongitude", |dice, _, _| format!("{:.4}", dice.0.f64() * 360.0 - 180.0)),
    drawn!("phoneNumber", phone_number::en::PhoneNumber()),
    drawn!("companyName", company::en::CompanyName()),
    drawn!("companyCatchPhrase", company::en::CatchPhrase()),
    drawn!("companyBuzzPhrase", company::en::Bs()),
    drawn!("loremWord", lorem::en::Word()),
    ranged("loremWords", 3, 3, |dice, least, most| {
        let count = dice.count(least, most);
        lorem::en::Words(count).fake_with_rng::<Vec<String>, _>(dice).join(" ")
    }),
    ranged("loremSlug", 3, 3, |dice, least, most| {
        let count = dice.count(least, most);
        lorem::en::Words(count).fake_with_rng::<Vec<String>, _>(dice).join("-")
    }),
    ranged("loremSentence", 3, 10, sentence),
    ranged("loremSentences", 2, 6, sentences),
    ranged("loremParagraph", 3, 3, sentences),
    ranged("loremText", 3, 6, sentences),
    ranged("loremParagraphs", 3, 3, |dice, least, most| {
        let count = dice.count(least, most);
        (0..count.start).map(|_| sentences(dice, 3, 3)).collect::<Vec<_>>().join("\n")
    }),
    // The largest number that JavaScript counts to exactly.
    ranged("numberInt", 0, 9_007_199_254_740_991, |dice, least, most| dice.0.i64(least..=most).to_string()),
    ranged("numberFloat", 0, 1, |dice, least, most| {
        (least as f64 + dice.0.f64() * (most as f64 - least as f64)).to_string()
    }),
    ranged("numberHex", 0, 15, |dice, least, most| format!("{:x}", dice.0.i64(least..=most))),
    entry("datatypeBoolean", |dice, _, _| dice.0.bool().to_string()),
    entry("stringUuid", |dice, _, _| uuid(dice)),
    ranged("stringAlpha", 1, 1, |dice, least, most| dice.letters(LETTERS, least, most)),
    ranged("stringAlphanumeric", 1, 1, |dice, least, most| dice.letters(BOTH, least, most)),
    ranged("stringNumeric", 1, 1, |dice, least, most| dice.letters(DIGITS, least, most)),
    ranged("stringHexadecimal", 1, 1, |dice, least, most| format!("0x{}", dice.letters(HEX, least, most))),
    ranged("stringNanoid", 21, 21, |dice, least, most| dice.letters(URL_SAFE, least, most)),
    ranged("stringSample", 10, 10, |dice, least, most| dice.letters(BOTH, least, most)),
    entry("dateMonth", |dice, _, _| dice.one(MONTHS).to_owned()),
    entry("dateWeekday", |dice, _, _| dice.one(WEEKDAYS).to_owned()),
    entry("commerceProductName", |dice, _, _| {
        format!("{} {} {}", dice.one(ADJECTIVES), dice.one(MATERIALS), dice.one(PRODUCTS))
    }),
    entry("commerceProduct", |dice, _, _| dice.one(PRODUCTS).to_owned()),
    entry("commerceProductAdjective", |dice, _, _| dice.one(ADJECTIVES).to_owned()),
    entry("commerceProductMaterial", |dice, _, _| dice.one(MATERIALS).to_owned()),
    entry("commerceDepartment", |dice, _, _| dice.one(DEPARTMENTS).to_owned()),
    ranged("commercePrice", 1, 1000, amount),
    entry("colorHuman", |dice, _, _| dice.one(COLORS).to_owned()),
    entry("colorRgb", |dice, _, _| format!("#{}", dice.letters(HEX, 6, 6))),
    ranged("financeAccountNumber", 8, 8, |dice, least, most| dice.letters(DIGITS, least, most)),
    ranged("financeAmount", 0, 1000, amount),
    ranged("financePin", 4, 4, |dice, least, most| dice.letters(DIGITS, least, most)),
    drawn!("financeCreditCardNumber", creditcard::en::CreditCardNumber()),
    entry("financeCreditCardCVV", |dice, _, _| dice.letters(DIGITS, 3, 3)),
    drawn!("financeCurrencyCode", currency::en::CurrencyCode()),
    drawn!("financeCurrencyName", currency::en::CurrencyName()),
    drawn!("financeCurrencySymbol", currency::en::CurrencySymbol()),
    drawn!("financeBic", finance::en::Bic()),
    entry("databaseMongodbObjectId", |dice, _, _| dice.letters(HEX, 24, 24)),
    drawn!("systemFileName", filesystem::en::FileName()),
    drawn!("systemFilePath", filesystem::en::FilePath()),
    drawn!("systemFileExt", filesystem::en::FileExtension()),
    drawn!("systemMimeType", filesystem::en::MimeType()),
    drawn!("systemSemver", filesystem::en::SemverStable()),
    drawn!("wordNoun", company::en::BsNoun()),
    drawn!("wordVerb", company::en::BsVerb()),
    drawn!("wordAdjective", company::en::BsAdj()),
    drawn!("wordSample", lorem::en::Word()),
];

fn domain(dice: &mut Dice<'_>) -> String {
    let words: Vec<String> = lorem::en::Words(2..3).fake_with_rng(dice);
    format!("{}.{}", words.join("-"), internet::en::DomainSuffix().fake_with_rng::<String, _>(dice))
}

fn sentence(dice: &mut Dice<'_>, least: i64, most: i64) -> String {
    let count = dice.count(least, most);
    let text: String = lorem::en::Sentence(count).fake_with_rng(dice);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn sentences(dice: &mut Dice<'_>, least: i64, most: i64) -> String {
    let count = dice.count(least, most);
    (0..count.start).map(|_| sentence(dice, 3, 10)).collect::<Vec<_>>().join(" ")
}

fn amount(dice: &mut Dice<'_>, least: i64, most: i64) -> String {
    format!("{:.2}", least as f64 + dice.0.f64() * (most as f64 - least as f64))
}

/// Version 4, variant 1 (RFC 9562 §5.4).
pub(crate) fn uuid_of(bits: u128) -> String {
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn uuid(dice: &mut Dice<'_>) -> String {
    uuid_of(dice.0.u128(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_makes_something_up_and_not_always_the_same() {
        for name in Fake::names() {
            let fake = Fake::named(name).unwrap();
            let made: std::collections::BTreeSet<String> =
                (0..200).map(|seed| fake.text(&mut fastrand::Rng::with_seed(seed))).collect();
            assert!(made.len() > 1, "{name}: {made:?}");
            assert!(made.iter().all(|text| !text.is_empty()), "{name}");
            let again = |seed| fake.text(&mut fastrand::Rng::with_seed(seed));
            assert_eq!(again(7), again(7), "{name}");
        }
        assert_eq!(Fake::named("personFirstNam"), None);
    }

    #[test]
    fn what_is_made_up_looks_like_what_it_is_called() {
        let check = |name: &str, pattern: &str| {
            let pattern = regex::Regex::new(&format!("^(?:{pattern})$")).unwrap();
            for seed in 0..200 {
                let text = Fake::named(name).unwrap().text(&mut fastrand::Rng::with_seed(seed));
                assert!(pattern.is_match(&text), "{name}: {text:?}");
            }
        };
        check("personFullName", r"[A-Z][\w'.]+( [A-Z][\w'.]+)+");
        check("internetEmail", r"[\w.+-]+@\w+\.\w+");
        check("internetExampleEmail", r"[\w.+-]+@example\.(com|org|net)");
        check("internetUrl", r"https://[a-z]+-[a-z]+\.[a-z]+/");
        check("internetIpv4", r"\d{1,3}(\.\d{1,3}){3}");
        check("internetPassword", r"\w{15}");
        check("locationZipCode", r"\d{5}");
        check("locationStreetAddress", r"\d+ [A-Z].* [A-Z]\w+");
        check("loremWords", r"[a-z]+ [a-z]+ [a-z]+");
        check("loremSentence", r"[A-Z][a-z]*( [a-z]+){2,9}\.");
        check("loremText", r"([A-Z][a-z ]+\. ?){3,6}");
        check("numberInt", r"\d+");
        check("stringUuid", r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        check("commercePrice", r"\d+\.\d\d");
        check("datatypeBoolean", "true|false");
    }

    #[test]
    fn a_range_of_its_own_bounds_a_number_and_a_length() {
        let mut rng = fastrand::Rng::with_seed(1);
        let die = Fake::named("numberInt").unwrap().within(Some(1), Some(6)).unwrap();
        assert!((0..100).all(|_| (1..=6).contains(&die.text(&mut rng).parse::<i64>().unwrap())));
        let word = Fake::named("stringAlpha").unwrap().within(Some(12), Some(12)).unwrap();
        assert_eq!(word.text(&mut rng).len(), 12);
        assert_eq!(die.within(Some(7), None), None);
        assert_eq!(Fake::named("personFullName").unwrap().within(Some(1), None), None);
    }
}
