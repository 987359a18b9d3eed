use crate::runtime::tests::check;

#[test]
fn base64_has_four_variants() {
    check(
        "import { b64encode, b64decode } from 'k6/encoding';
         export default () => {
           const odd = new Uint8Array([251, 255, 254, 1]);
           for (const kind of ['std', 'rawstd', 'url', 'rawurl', undefined, 'none'])
             console.log(b64encode('naïve?>', kind), b64encode(odd.buffer, kind), b64decode(b64encode('naïve?>', kind), kind, 's'),
               new Uint8Array(b64decode(b64encode(odd, kind), kind)).join());
           console.log(b64decode('YWJj') instanceof ArrayBuffer, b64decode('YW\\nJj', 'std', 's'), b64encode('') === '');
           for (const what of [() => b64decode('!!!'), () => b64decode('YQ'), () => b64decode('YQ==', 'rawstd'), () => b64encode(7)])
             try { what(); } catch (e) { console.log(e.name); }
         }",
        &[
            "bmHDr3ZlPz4= +//+AQ== naïve?> 251,255,254,1",
            "bmHDr3ZlPz4 +//+AQ naïve?> 251,255,254,1",
            "bmHDr3ZlPz4= -__-AQ== naïve?> 251,255,254,1",
            "bmHDr3ZlPz4 -__-AQ naïve?> 251,255,254,1",
            "bmHDr3ZlPz4= +//+AQ== naïve?> 251,255,254,1",
            "bmHDr3ZlPz4= +//+AQ== naïve?> 251,255,254,1",
            "true abc true",
            "GoError",
            "GoError",
            "GoError",
            "GoError",
        ],
    );
}

#[test]
fn texts_become_bytes_and_bytes_texts() {
    check(
        "export default () => {
           const bytes = new TextEncoder().encode('naïve 🌧\\ud800');
           console.log(bytes.join(), bytes instanceof Uint8Array, new TextEncoder().encoding, new TextDecoder().encoding);
           const odd = new Uint8Array([0xef, 0xbb, 0xbf, 97]);
           console.log(new TextDecoder().decode(bytes), new TextDecoder('utf-16le').decode(new Uint8Array([97, 0, 98, 0])),
             new TextDecoder().decode(odd), new TextDecoder('utf-8', { ignoreBOM: true }).decode(odd).length);
           console.log(new TextDecoder().decode(new Uint8Array([255, 97, 0xf0, 0x9f])));
           const stream = new TextDecoder();
           console.log(stream.decode(bytes.slice(0, 3), { stream: true }), stream.decode(bytes.slice(3, 6)));
           for (const what of [() => new TextDecoder('utf8', { fatal: true }).decode(new Uint8Array([255])), () => new TextDecoder('none')])
             try { what(); } catch (e) { console.log(e.name); }
         }",
        &[
            "110,97,195,175,118,101,32,240,159,140,167,239,191,189 true utf-8 utf-8",
            "naïve 🌧\u{fffd} ab a 2",
            "\u{fffd}a\u{fffd}",
            "na ïve",
            "TypeError",
            "RangeError",
        ],
    );
}

#[test]
fn the_timers_of_the_module_are_the_globals() {
    check(
        "import timers, { setTimeout as later } from 'k6/timers';
         export default () => { later(() => console.log('fired', timers.setInterval === setInterval), 5); }",
        &["fired true"],
    );
}
