use crate::runtime::tests::{check, run_with};

#[test]
fn words_are_hashed_by_every_function_in_every_encoding() {
    check(
        "import crypto, { sha256, md5, hmac, createHash, createHMAC } from 'k6/crypto';
         export default () => {
           const bytes = new Uint8Array([1, 2, 3]).buffer;
           for (const name of ['md4', 'md5', 'sha1', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'])
             console.log(name, crypto[name]('words', 'hex').slice(0, 16), crypto[name](bytes, 'base64').length);
           for (const encoding of ['base64', 'base64url', 'base64rawurl']) console.log(sha256('words', encoding), hmac('sha256', 'key', 'words', encoding));
           console.log(sha256('words', 'binary') instanceof ArrayBuffer, new Uint8Array(md5('words', 'binary')).length);
           const hash = createHash('sha1'); hash.update('wo'); hash.digest('hex'); hash.update('rds');
           console.log(crypto.sha1('words', 'hex') === hash.digest('hex'), crypto.hexEncode(bytes));
           const mac = createHMAC('sha512', bytes); mac.update('words'); console.log(mac.digest('hex') === hmac('sha512', bytes, 'words', 'hex'));
           console.log(crypto.randomBytes(8).byteLength);
           for (const what of [() => sha256('a'), () => sha256('a', 'none'), () => sha256(7, 'hex'), () => crypto.randomBytes(0), () => hmac('none', '', '', 'hex')])
             try { what(); } catch (e) { console.log(e.name); }
         }",
        &[
            "md4 76128894b61595a2 24",
            "md5 89759e1284e2479b 24",
            "sha1 efb893611e6f56f5 28",
            "sha384 985745f6fb7aa521 64",
            "sha512 fc837da28bb4c2da 88",
            "sha512_224 121fbaa76e54d867 40",
            "sha512_256 fafcef9ff4de7223 44",
            "ripemd160 28189fea26c065a9 28",
            "26Nr/6XKsPki0IejrrF5+dTnRd9AsyPhsUcUAoSMij4= Fzt19V32GRHaEAYLfQS7daDBjM4HevcwxrbgZvbzUTU=",
            "26Nr_6XKsPki0IejrrF5-dTnRd9AsyPhsUcUAoSMij4= Fzt19V32GRHaEAYLfQS7daDBjM4HevcwxrbgZvbzUTU=",
            "26Nr_6XKsPki0IejrrF5-dTnRd9AsyPhsUcUAoSMij4 Fzt19V32GRHaEAYLfQS7daDBjM4HevcwxrbgZvbzUTU",
            "true 16",
            "true 010203",
            "true",
            "8",
            "GoError",
            "GoError",
            "GoError",
            "GoError",
            "GoError",
        ],
    );
}

const WEB: &str = "const text = (t) => new TextEncoder().encode(t), { subtle } = crypto;
    const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');";

#[test]
fn web_crypto_digests_signs_and_encrypts() {
    let script = "export default async () => {
        console.log(hex(await subtle.digest('SHA-384', text('words'))).slice(0, 16), hex(await subtle.digest({ name: 'sha-1' }, text('words').buffer)).slice(0, 16));
        const mac = await subtle.importKey('raw', text('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
        const signature = await subtle.sign('HMAC', mac, text('words'));
        console.log(hex(signature).slice(0, 8), await subtle.verify('HMAC', mac, signature, text('words')), await subtle.verify('HMAC', mac, signature, text('word')), JSON.stringify(mac));
        const iv = text('abcdefghijklmnop'), raw = text('0123456789abcdef'), uses = ['encrypt', 'decrypt'];
        const cbc = await subtle.importKey('raw', raw, 'AES-CBC', true, uses);
        const sealed = await subtle.encrypt({ name: 'AES-CBC', iv }, cbc, text('words'));
        console.log(hex(sealed), hex(await subtle.decrypt({ name: 'AES-CBC', iv }, cbc, sealed)), JSON.stringify(await subtle.exportKey('jwk', cbc)));
        const gcm = await subtle.importKey('raw', raw, 'AES-GCM', true, uses), how = { name: 'AES-GCM', iv: text('abcdefghijkl') };
        console.log(hex(await subtle.encrypt(how, gcm, text('words'))));
        const ctr = { name: 'AES-CTR', counter: iv, length: 64 }, key = await subtle.generateKey({ name: 'AES-CTR', length: 256 }, true, uses);
        console.log(hex(await subtle.decrypt(ctr, key, await subtle.encrypt(ctr, key, text('words')))), (await subtle.exportKey('raw', key)).byteLength);
        const password = await subtle.importKey('raw', text('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
        const derive = { name: 'PBKDF2', hash: 'SHA-256', salt: text('salt'), iterations: 10 };
        console.log(hex(await subtle.deriveBits(derive, password, 128)), (await subtle.deriveKey(derive, password, { name: 'AES-GCM', length: 128 }, true, uses)).algorithm.length);
        console.log(crypto.getRandomValues(new Uint16Array(4)).length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/.test(crypto.randomUUID()));
    }";
    check(
        &format!("{WEB} {script}"),
        &[
            "985745f6fb7aa521 efb893611e6f56f5",
            "173b75f5 true false {\"type\":\"secret\",\"extractable\":false,\"algorithm\":{\"name\":\"HMAC\",\"hash\":{\"name\":\"SHA-256\"},\"length\":24},\"usages\":[\"sign\",\"verify\"]}",
            "185e8d1341428198d3008a71a79e354b 776f726473 {\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZg\",\"alg\":\"A128CBC\",\"ext\":true,\"key_ops\":[\"encrypt\",\"decrypt\"]}",
            "92bd0ed120c354ce33a6730df3d439f18da7420ea6",
            "776f726473 32",
            "653cc888d937efe22810a5cbdb25a5bd 128",
            "4 true",
        ],
    );
}

#[test]
fn web_crypto_refuses_by_names() {
    let script = "export default async () => {
        const key = await subtle.importKey('raw', text('0123456789abcdef'), 'AES-CBC', false, ['encrypt']);
        const tried = [
          () => subtle.digest('MD5', text('x')), () => subtle.digest('SHA-1', 'x'), () => subtle.exportKey('raw', key),
          () => subtle.decrypt({ name: 'AES-CBC', iv: text('abcdefghijklmnop') }, key, text('x')), () => subtle.encrypt({ name: 'AES-CBC', iv: text('a') }, key, text('x')),
          () => subtle.sign('HMAC', key, text('x')), () => subtle.generateKey({ name: 'AES-CBC', length: 7 }, true, ['encrypt']),
          () => subtle.importKey('raw', text('x'), 'AES-CBC', true, []), () => subtle.generateKey({ name: 'RSA-PSS' }, true, ['sign']),
          async () => crypto.getRandomValues(new Float32Array(1)), async () => crypto.getRandomValues(new Uint8Array(65537)),
        ];
        for (const what of tried) try { await what(); console.log('works'); } catch (e) { console.log(e.name); }
    }";
    let names = "NotSupportedError TypeError InvalidAccessError InvalidAccessError OperationError InvalidAccessError OperationError SyntaxError NotSupportedError GoError GoError";
    check(&format!("{WEB} {script}"), &names.split(' ').collect::<Vec<_>>());
}

/// The keys, signatures and their DER are k6's.
#[test]
fn curves_sign_verify_and_carry_keys_as_k6_does() {
    let script = "import { b64decode, b64encode } from 'k6/encoding';
      const KEYS = [
        ['SHA-256', { kty: 'EC', crv: 'P-256', x: 'MlDCMUDBRRlTyJfYzIsZENqcjaH7GCcVeIxWEJkelOQ', y: 'bu4s7lda2LBEyVtZ8gMgnGjNZ2Lxfx1p_iaFdeK2o1o', d: 'vOOipoTcdVIEjlWgYWmT8ZvjasmWP6joCRAP47snEHs' },
          '6sFF6OUHUnBkZB4H_IMt_s_qi8YKzYvgAkF0UGSZ6Va8Fn4o2b-1ilIa0cASkv8k93ZQ_5_a1aSYydEwUiFNlQ',
          'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvOOipoTcdVIEjlWgYWmT8ZvjasmWP6joCRAP47snEHuhRANCAAQyUMIxQMFFGVPIl9jMixkQ2pyNofsYJxV4jFYQmR6U5G7uLO5XWtiwRMlbWfIDIJxozWdi8X8daf4mhXXitqNa',
          'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMlDCMUDBRRlTyJfYzIsZENqcjaH7GCcVeIxWEJkelORu7izuV1rYsETJW1nyAyCcaM1nYvF_HWn-JoV14rajWg'],
        ['SHA-384', { kty: 'EC', crv: 'P-384', x: 'pOdgS8GOUL1r2lrxYtsvGisn0ZKXuXBqVNMqtF3YUcqwgZexaxN08QXwZE-3w_3y', y: 'dwDGEmlSs8434qAGH0Zi1BHZBiPOaUTdm9aDx80rj1j6wrEJegxK2gzCIJg3dlMJ', d: 'B6aDK6qf9c7zwo7SKbzsYNRq26DI-2hpYbVma8ioWbXtPXj02dM50sG37ieXECJR' },
          'd4fAWcQlcJjCgdKcu6eiBe9wHmk-ZzPVTTx7dWlu12n4U49wWU2xtoDAB_EYjwEpvbF6UAd5cU3aQs2oXbM-N9lNTAf-TGQmjtVWur79UD6JDluznayJdTTPDMqs4mzC',
          'MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAHpoMrqp_1zvPCjtIpvOxg1GrboMj7aGlhtWZryKhZte09ePTZ0znSwbfuJ5cQIlGhZANiAASk52BLwY5QvWvaWvFi2y8aKyfRkpe5cGpU0yq0XdhRyrCBl7FrE3TxBfBkT7fD_fJ3AMYSaVKzzjfioAYfRmLUEdkGI85pRN2b1oPHzSuPWPrCsQl6DEraDMIgmDd2Uwk',
          'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEpOdgS8GOUL1r2lrxYtsvGisn0ZKXuXBqVNMqtF3YUcqwgZexaxN08QXwZE-3w_3ydwDGEmlSs8434qAGH0Zi1BHZBiPOaUTdm9aDx80rj1j6wrEJegxK2gzCIJg3dlMJ'],
      ];
      const raw = (t) => b64decode(t, 'rawurl'), tried = async (what) => { try { return await what(); } catch (e) { return e.name; } };
      export default async () => {
        for (const [hash, jwk, signature, pkcs8, spki] of KEYS) {
          const how = { name: 'ECDSA', hash }, kind = { name: 'ECDSA', namedCurve: jwk.crv }, words = text('words');
          const own = await subtle.importKey('pkcs8', raw(pkcs8), kind, true, ['sign']), open = await subtle.importKey('spki', raw(spki), kind, true, ['verify']);
          const again = await subtle.importKey('jwk', jwk, kind, true, ['sign']);
          console.log(own.type, open.type, await subtle.verify(how, open, raw(signature), words), await subtle.verify(how, open, raw(signature), text('word')),
            await subtle.verify(how, open, await subtle.sign(how, again, words), words), b64encode(await subtle.exportKey('pkcs8', again), 'rawurl') === pkcs8,
            b64encode(await subtle.exportKey('spki', open), 'rawurl') === spki, (await subtle.exportKey('jwk', own)).d === jwk.d, (await subtle.exportKey('raw', open)).byteLength);
          const made = await subtle.generateKey(kind, false, ['sign', 'verify']);
          console.log(await subtle.verify(how, made.publicKey, await subtle.sign(how, made.privateKey, words), words), made.publicKey.extractable,
            await tried(() => subtle.exportKey('jwk', made.privateKey)), await tried(() => subtle.sign({ name: 'ECDSA', hash: 'SHA-512' }, own, words)),
            await tried(() => subtle.sign(how, open, words)), await tried(() => subtle.importKey('jwk', { ...jwk, x: jwk.y }, kind, true, ['sign'])), await tried(() => subtle.importKey('raw', raw(spki), kind, true, ['verify'])));
        }
      }";
    check(
        &format!("{script}; {WEB}"),
        &[
            "private public true false true true true true 65",
            "true true InvalidAccessError NotSupportedError InvalidAccessError DataError DataError",
            "private public true false true true true true 97",
            "true true InvalidAccessError NotSupportedError InvalidAccessError DataError DataError",
        ],
    );
}

/// The keys and the signature of `words` are OpenSSL's.
#[test]
fn rsa_keys_sign_and_verify() {
    let script = "const own = open('./private.der', 'b'), other = open('./public.der', 'b'), signature = open('./signature.bin', 'b');
      export default async () => {
        const words = text('words'), kind = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
        const key = await subtle.importKey('pkcs8', own, kind, false, ['sign']), verifier = await subtle.importKey('spki', other, kind, true, ['verify']);
        console.log(key.type, hex(await subtle.sign(kind.name, key, words)) === hex(signature), await subtle.verify(kind.name, verifier, signature, words), await subtle.verify(kind.name, verifier, signature, text('word')));
        const pss = { name: 'RSA-PSS', hash: 'SHA-512' }, how = { name: 'RSA-PSS', saltLength: 64 };
        const [a, b] = [await subtle.importKey('pkcs8', own, pss, false, ['sign']), await subtle.importKey('spki', other, pss, true, ['verify'])];
        console.log(await subtle.verify(how, b, await subtle.sign(how, a, words), words));
        for (const what of [() => subtle.generateKey(kind, true, ['sign']), () => subtle.importKey('spki', own, kind, true, ['verify']), () => subtle.importKey('pkcs8', own, kind, true, ['verify'])])
          try { await what(); console.log('works'); } catch (e) { console.log(e.name); }
      }";
    let keys = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/modules/tests/keys");
    let seen = run_with(&keys, &format!("{script}; {WEB}"), None);
    let lines = ["private true true false", "true", "NotSupportedError", "DataError", "SyntaxError"];
    assert_eq!(seen.lines, lines, "{:?}", seen.outcome);
}
