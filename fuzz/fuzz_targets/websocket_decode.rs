#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sonagi_fuzz::websocket_decode(input));
