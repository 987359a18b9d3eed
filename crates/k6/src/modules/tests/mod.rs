//! The modules as scripts see them; k6 was asked where its answer is not obvious.

mod constructors;
mod cookies;
mod crypto;
mod data;
mod encoding;
mod execution;
mod experimental;
mod html;
mod jslib;
mod metrics;

use crate::runtime::tests::check;

/// The lists are k6 2.2's, without modules that are not built yet.
#[test]
fn modules_export_what_k6s_modules_export() {
    let modules = [
        ("k6", "check fail group randomSeed sleep"),
        (
            "k6/http",
            "CookieJar OCSP_REASON_AA_COMPROMISE OCSP_REASON_AFFILIATION_CHANGED OCSP_REASON_CA_COMPROMISE OCSP_REASON_CERTIFICATE_HOLD OCSP_REASON_CESSATION_OF_OPERATION OCSP_REASON_KEY_COMPROMISE OCSP_REASON_PRIVILEGE_WITHDRAWN OCSP_REASON_REMOVE_FROM_CRL OCSP_REASON_SUPERSEDED OCSP_REASON_UNSPECIFIED OCSP_STATUS_GOOD OCSP_STATUS_REVOKED OCSP_STATUS_SERVER_FAILED OCSP_STATUS_UNKNOWN TLS_1_0 TLS_1_1 TLS_1_2 TLS_1_3 asyncRequest batch cookieJar del expectedStatuses file get head options patch post put request setResponseCallback url",
        ),
        ("k6/metrics", "Counter Gauge Rate Trend"),
        ("k6/execution", "instance scenario test vu"),
        ("k6/data", "SharedArray"),
        ("k6/encoding", "b64decode b64encode"),
        (
            "k6/crypto",
            "createHMAC createHash hexEncode hmac md4 md5 randomBytes ripemd160 sha1 sha256 sha384 sha512 sha512_224 sha512_256",
        ),
        ("k6/html", "parseHTML"),
        ("k6/timers", "clearInterval clearTimeout setInterval setTimeout"),
        ("k6/secrets", ""),
        ("k6/experimental/csv", "Parser parse"),
        ("k6/experimental/fs", "SeekMode open"),
        (
            "k6/experimental/streams",
            "CountQueuingStrategy ReadableStream ReadableStreamDefaultReader WritableStream WritableStreamDefaultWriter",
        ),
    ];
    for (name, exports) in modules {
        let script = format!(
            "import * as all from '{name}'; import it from '{name}';
             export default () => console.log(Object.keys(all).filter((name) => name !== 'default').sort().join(' '), typeof it);"
        );
        check(&script, &[format!("{exports} object").as_str()]);
    }
}

#[test]
fn modules_that_became_globals_are_still_there_and_say_so() {
    check(
        "import { setTimeout as later } from 'k6/experimental/timers'; import { crypto as own } from 'k6/experimental/webcrypto';
         export default () => console.log(later === setTimeout, own === crypto);",
        &[
            "k6/experimental/timers is no module of k6 2.2 any more: timers are globals, without an import",
            "k6/experimental/webcrypto is no module of k6 2.2 any more: crypto is a global, without an import",
            "true true",
        ],
    );
}

#[test]
fn get_and_head_take_two_arguments() {
    check(
        "import http from 'k6/http';
         export default () => console.log(http.get('http://a/', null, {}).status, http.head('http://a/', {}, {}, 4).status, http.get('http://a/', {}).status);",
        &[
            "http.get only accepts a url and a params argument (2 arguments), but 3 were given",
            "http.head only accepts a url and a params argument (2 arguments), but 4 were given",
            "200 200 200",
        ],
    );
}

#[test]
fn constants_of_http_have_k6s_values() {
    check(
        "import http, { TLS_1_2 } from 'k6/http';
         export default () => console.log(TLS_1_2, http.OCSP_STATUS_SERVER_FAILED, http.OCSP_REASON_CA_COMPROMISE);",
        &["tls1.2 server_failed ca_compromise"],
    );
}
