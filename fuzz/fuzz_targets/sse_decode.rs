#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sonagi_fuzz::sse::sse_decode(input));
