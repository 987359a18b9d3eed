#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sonagi_fuzz::sockjs::sockjs_decode(input));
