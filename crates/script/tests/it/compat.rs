//! Scripts as they are found in the field load, and the plan says what they say.

use crate::support::{loaded, notices, repository};
use sonagi_script::Overrides;

/// A copy of a demo script beside a file of credentials.
fn demo(name: &str) -> sonagi_script::Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::copy(repository("examples/demo").join(name), &path).unwrap();
    std::fs::write(
        folder.path().join("credentials.csv"),
        "email,password,id\nuser1@example.test,password,1\n",
    )
    .unwrap();
    loaded(&path, &Overrides::default())
}

#[test]
fn the_demo_scripts_load() {
    for name in ["chat.yml", "room.yml"] {
        let demo = demo(name);
        println!("{:#?}", demo.plan);
        println!("{:#?}", notices(&demo));
    }
}
