//! Signatures by keys in pairs, as far as the library that TLS brings along makes them: P-256 with SHA-256, P-384 with
//! SHA-384, RSA of 2,048 bits and more. It makes no RSA keys.

use ring::rand::SystemRandom;
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, RsaEncoding, RsaKeyPair, RsaParameters, UnparsedPublicKey,
    VerificationAlgorithm,
};
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Value};

use super::web::{buffer, given};

pub(super) fn fill<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> rquickjs::Result<()> {
    native.set("ecGenerate", Function::new(ctx.clone(), ec_generate)?)?;
    native.set("ecIsPair", Function::new(ctx.clone(), ec_is_pair)?)?;
    native.set("ecSign", Function::new(ctx.clone(), ec_sign)?)?;
    native.set("ecVerify", Function::new(ctx.clone(), ec_verify)?)?;
    native.set("rsaSign", Function::new(ctx.clone(), rsa_sign)?)?;
    native.set("rsaVerify", Function::new(ctx.clone(), rsa_verify)?)
}

fn signing(curve: &str) -> &'static EcdsaSigningAlgorithm {
    match curve {
        "P-384" => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
        _ => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
    }
}

/// PKCS #8, the public key with it.
fn ec_generate<'js>(ctx: Ctx<'js>, curve: String) -> rquickjs::Result<ArrayBuffer<'js>> {
    let made = EcdsaKeyPair::generate_pkcs8(signing(&curve), &SystemRandom::new());
    let made = made.map_err(|_| Exception::throw_message(&ctx, "no key could be made"))?;
    buffer(ctx, made.as_ref())
}

fn ec_pair<'js>(
    ctx: &Ctx<'js>,
    curve: &str,
    own: &Value<'js>,
    point: &Value<'js>,
) -> rquickjs::Result<Option<EcdsaKeyPair>> {
    let (own, point) = (given(ctx, own)?, given(ctx, point)?);
    let random = SystemRandom::new();
    Ok(EcdsaKeyPair::from_private_key_and_public_key(signing(curve), &own, &point, &random).ok())
}

fn ec_is_pair<'js>(
    ctx: Ctx<'js>,
    curve: String,
    own: Value<'js>,
    point: Value<'js>,
) -> rquickjs::Result<bool> {
    Ok(ec_pair(&ctx, &curve, &own, &point)?.is_some())
}

fn ec_sign<'js>(
    ctx: Ctx<'js>,
    curve: String,
    own: Value<'js>,
    point: Value<'js>,
    data: Value<'js>,
) -> rquickjs::Result<Option<ArrayBuffer<'js>>> {
    let data = given(&ctx, &data)?;
    let pair = ec_pair(&ctx, &curve, &own, &point)?;
    let made = pair.and_then(|pair| pair.sign(&SystemRandom::new(), &data).ok());
    made.map(|made| buffer(ctx, made.as_ref())).transpose()
}

fn ec_verify<'js>(
    ctx: Ctx<'js>,
    curve: String,
    point: Value<'js>,
    signature: Value<'js>,
    data: Value<'js>,
) -> rquickjs::Result<bool> {
    let algorithm: &dyn VerificationAlgorithm = match curve.as_str() {
        "P-384" => &signature::ECDSA_P384_SHA384_FIXED,
        _ => &signature::ECDSA_P256_SHA256_FIXED,
    };
    let key = UnparsedPublicKey::new(algorithm, given(&ctx, &point)?);
    Ok(key.verify(&given(&ctx, &data)?, &given(&ctx, &signature)?).is_ok())
}

fn rsa_encoding(scheme: &str, hash: &str) -> Option<&'static dyn RsaEncoding> {
    let encoding: &'static dyn RsaEncoding = match (scheme, hash) {
        ("RSASSA-PKCS1-v1_5", "SHA-256") => &signature::RSA_PKCS1_SHA256,
        ("RSASSA-PKCS1-v1_5", "SHA-384") => &signature::RSA_PKCS1_SHA384,
        ("RSASSA-PKCS1-v1_5", "SHA-512") => &signature::RSA_PKCS1_SHA512,
        ("RSA-PSS", "SHA-256") => &signature::RSA_PSS_SHA256,
        ("RSA-PSS", "SHA-384") => &signature::RSA_PSS_SHA384,
        ("RSA-PSS", "SHA-512") => &signature::RSA_PSS_SHA512,
        _ => return None,
    };
    Some(encoding)
}

fn rsa_parameters(scheme: &str, hash: &str) -> Option<&'static RsaParameters> {
    Some(match (scheme, hash) {
        ("RSASSA-PKCS1-v1_5", "SHA-256") => &signature::RSA_PKCS1_2048_8192_SHA256,
        ("RSASSA-PKCS1-v1_5", "SHA-384") => &signature::RSA_PKCS1_2048_8192_SHA384,
        ("RSASSA-PKCS1-v1_5", "SHA-512") => &signature::RSA_PKCS1_2048_8192_SHA512,
        ("RSA-PSS", "SHA-256") => &signature::RSA_PSS_2048_8192_SHA256,
        ("RSA-PSS", "SHA-384") => &signature::RSA_PSS_2048_8192_SHA384,
        ("RSA-PSS", "SHA-512") => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

/// PKCS #8, or the eight numbers of a JSON Web Key.
fn rsa_pair(parts: &[Vec<u8>]) -> Option<RsaKeyPair> {
    match parts {
        [pkcs8] => RsaKeyPair::from_pkcs8(pkcs8).ok(),
        [n, e, d, p, q, dp, dq, qi] => {
            let public_key = PublicKeyComponents { n, e };
            RsaKeyPair::from_components(&KeyPairComponents { public_key, d, p, q, dP: dp, dQ: dq, qInv: qi })
                .ok()
        }
        _ => None,
    }
}

fn rsa_sign<'js>(
    ctx: Ctx<'js>,
    scheme: String,
    hash: String,
    parts: Vec<Value<'js>>,
    data: Value<'js>,
) -> rquickjs::Result<Option<ArrayBuffer<'js>>> {
    let parts = parts.iter().map(|part| given(&ctx, part)).collect::<rquickjs::Result<Vec<_>>>()?;
    let data = given(&ctx, &data)?;
    let made = rsa_pair(&parts).zip(rsa_encoding(&scheme, &hash)).and_then(|(pair, encoding)| {
        let mut made = vec![0; pair.public().modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), &data, &mut made).ok()?;
        Some(made)
    });
    made.map(|made| buffer(ctx, &made)).transpose()
}

fn rsa_verify<'js>(
    ctx: Ctx<'js>,
    scheme: String,
    hash: String,
    n: Value<'js>,
    e: Value<'js>,
    signed: rquickjs::function::Rest<Value<'js>>,
) -> rquickjs::Result<bool> {
    let [signature, data] = &signed.0[..] else { return Ok(false) };
    let key = PublicKeyComponents { n: given(&ctx, &n)?, e: given(&ctx, &e)? };
    let (signature, data) = (given(&ctx, signature)?, given(&ctx, data)?);
    let parameters = rsa_parameters(&scheme, &hash);
    Ok(parameters.is_some_and(|parameters| key.verify(parameters, &data, &signature).is_ok()))
}
