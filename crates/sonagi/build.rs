//! Links the program at a fixed address. A movable one has its tables of addresses filled in as it starts: 1 MB that
//! every process writes, 1.4 MB that it reads for that, and half of the time until `main`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
