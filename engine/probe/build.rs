//! Embeds every file of `cases/` into the library, so that a case is added without code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folders of cases, and the names of their lists.
const FOLDERS: [(&str, &str); 2] = [("h1", "H1"), ("h2", "H2")];

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the manifest's folder"));
    let mut source = String::new();
    for (folder, name) in FOLDERS {
        embed(&root.join("cases").join(folder), name, &mut source);
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets the output folder"));
    fs::write(out.join("embedded.rs"), source).expect("the output folder is writable");
}

fn embed(folder: &Path, name: &str, source: &mut String) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()))
        .map(|entry| {
            entry
                .expect("a readable entry of the folder of cases")
                .path()
        })
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    writeln!(source, "const {name}: &[(&str, &str)] = &[").expect("writing to a string");
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file
            .file_name()
            .expect("a file has a name")
            .to_string_lossy();
        writeln!(
            source,
            "    ({name:?}, include_str!({:?})),",
            file.display().to_string()
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
}
