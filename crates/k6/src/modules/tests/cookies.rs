use crate::runtime::tests::check;

#[test]
fn a_jar_knows_nothing_of_addresses_that_are_not_of_http() {
    check(
        "import http from 'k6/http';
         export default () => {
           const jar = new http.CookieJar();
           for (const address of ['a/b', '/b', '', undefined, 'ftp://a/', 'ws://a/', 'mailto:a@b', 'http://']) {
             console.log(jar.set(address, 'n', 'v'), JSON.stringify(jar.cookiesForURL(address)), jar.delete(address, 'n'), jar.clear(address));
           }
           console.log(jar.set('HTTP://u:p@A/', 'n', 'v'), JSON.stringify(jar.cookiesForURL('http://a/x')));
           const { set, cookiesForURL } = jar;
           set('http://a/', 'kept', 1, { Path: '/p', max_age: 0, Secure: 0, expires: '' });
           console.log(JSON.stringify(cookiesForURL('http://a/p')));
         }",
        &[
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {} undefined undefined",
            "true {\"n\":[\"v\"]}",
            "{\"kept\":[\"1\"],\"n\":[\"v\"]}",
        ],
    );
}

#[test]
fn an_address_that_cannot_be_read_is_an_error() {
    check(
        "import http from 'k6/http';
         export default () => {
           const jar = new http.CookieJar();
           for (const call of [() => jar.set('127.0.0.1:8080/x', 'n', 'v'), () => jar.clear(':80'), () => jar.delete('http://a:x/', 'n'), () => jar.cookiesForURL('http://a b/')])
             try { call(); } catch (e) { console.log(e.name, e.message); }
         }",
        &[
            "GoError parse \"127.0.0.1:8080/x\": first path segment in URL cannot contain colon",
            "GoError parse \":80\": missing protocol scheme",
            "GoError parse \"http://a:x/\": invalid port \":x\" after host",
            "GoError parse \"http://a b/\": invalid character \" \" in host name",
        ],
    );
}
