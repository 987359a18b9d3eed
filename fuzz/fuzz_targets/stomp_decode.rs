#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sonagi_fuzz::stomp::stomp_decode(input));
