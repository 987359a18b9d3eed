#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sonagi_fuzz::engineio_payload(input));
