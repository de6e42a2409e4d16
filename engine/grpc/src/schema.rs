//! Schemas: `.proto` files, or the descriptor sets that protoc and buf make of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miette::Diagnostic;
use prost_reflect::DescriptorPool;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, UninterpretedOption};
use protox::file::{
    ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};
use protox::{Compiler, Error};

/// The protocols that every server may offer: the path of each file, its text, and the package that `VERSION` in it is.
const BUILT_IN: [(&str, &str, &str); 3] = [
    (
        "grpc/health/v1/health.proto",
        include_str!("health.proto"),
        "grpc.health.v1",
    ),
    (
        "grpc/reflection/v1/reflection.proto",
        REFLECTION,
        "grpc.reflection.v1",
    ),
    (
        "grpc/reflection/v1alpha/reflection.proto",
        REFLECTION,
        "grpc.reflection.v1alpha",
    ),
];
const REFLECTION: &str = include_str!("reflection.proto");

/// Services and messages.
#[derive(Debug, Clone)]
pub struct Schema {
    pool: DescriptorPool,
    from: String,
}

/// The schemas that this process has read, by path, roots and the file's time of change: every request that calls a
/// method of a file needs its schema, and a session compiles requests for as long as a run lasts.
static READ: LazyLock<Mutex<HashMap<SchemaKey, Schema>>> = LazyLock::new(Mutex::default);

/// A file's path, the roots of its imports, and when it was changed.
type SchemaKey = (PathBuf, Vec<String>, Option<SystemTime>);

impl Schema {
    /// Reads a `.proto` file, whose imports are looked for in `roots`; if there are none, in the file's folder and those
    /// above it. A file of any other name is a descriptor set. Without a file it is the
    /// health protocol and server reflection.
    ///
    /// # Errors
    /// A sentence that names the file and the line.
    pub fn read(file: Option<&str>, roots: &[String]) -> Result<Self, String> {
        let Some(file) = file else {
            return Self::built_in();
        };
        let path = Path::new(file);
        let path = std::path::absolute(path).map_err(|error| format!("{file}: {error}"))?;
        let changed = path.metadata().and_then(|found| found.modified()).ok();
        let key = (path.clone(), roots.to_vec(), changed);
        let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = known.get(&key) {
            return Ok(schema.clone());
        }
        let schema = Self::read_file(file, &path, roots)?;
        known.insert(key, schema.clone());
        Ok(schema)
    }

    fn read_file(file: &str, path: &Path, roots: &[String]) -> Result<Self, String> {
        let is_source = path.extension().is_some_and(|end| end == "proto");
        let pool = if is_source {
            compiled(path, roots)
        } else {
            std::fs::read(path)
                .map_err(|error| error.to_string())
                .and_then(|bytes| {
                    let set = DescriptorPool::decode(bytes.as_slice());
                    set.map_err(|error| {
                        format!("it does not end with .proto and is not a descriptor set: {error}")
                    })
                })
        };
        Ok(Self {
            pool: pool.map_err(|why| format!("{file}: {why}"))?,
            from: file.to_owned(),
        })
    }

    fn built_in() -> Result<Self, String> {
        static KNOWN: LazyLock<Result<Schema, String>> = LazyLock::new(Schema::read_built_in);
        KNOWN.clone()
    }

    fn read_built_in() -> Result<Self, String> {
        let mut pool = DescriptorPool::new();
        for (name, text, package) in BUILT_IN {
            let text = text.replace("package VERSION", &format!("package {package}"));
            let file = File::from_source(name, &text).map_err(|error| error.to_string())?;
            pool.add_file_descriptor_proto(file.file_descriptor_proto().clone())
                .map_err(|error| error.to_string())?;
        }
        Ok(Self {
            pool,
            from: "a request without `proto`, which knows the health protocol and server reflection alone,"
                .to_owned(),
        })
    }

    /// The schema in a descriptor set that a server gave, in base64.
    ///
    /// # Errors
    /// A sentence on why it is none.
    pub fn reflected(set: &str) -> Result<Self, String> {
        let bytes = STANDARD.decode(set).map_err(|error| error.to_string());
        let pool = bytes.and_then(|bytes| {
            DescriptorPool::decode(bytes.as_slice()).map_err(|error| error.to_string())
        });
        Ok(Self {
            pool: pool.map_err(|why| {
                format!("descriptors: this is not a descriptor set in base64: {why}")
            })?,
            from: "the server's reflection".to_owned(),
        })
    }

    /// Whether a service is in every schema that is read without a file.
    #[must_use]
    pub fn is_built_in(service: &str) -> bool {
        Self::built_in().is_ok_and(|known| known.pool.get_service_by_name(service).is_some())
    }

    /// Its descriptors.
    #[must_use]
    pub const fn pool(&self) -> &DescriptorPool {
        &self.pool
    }

    /// Where it is from, in words.
    #[must_use]
    pub fn from(&self) -> &str {
        &self.from
    }
}

fn compiled(path: &Path, roots: &[String]) -> Result<DescriptorPool, String> {
    if !path.is_file() {
        return Err("there is no such file".to_owned());
    }
    let roots: Vec<PathBuf> = if roots.is_empty() {
        path.ancestors().skip(1).map(Path::to_owned).collect()
    } else {
        let absolute = |root: &String| std::path::absolute(root).map_err(|why| why.to_string());
        roots.iter().map(absolute).collect::<Result<_, _>>()?
    };
    // Imports name files from one of the roots on. The file itself is known by its place below the first that holds it.
    let missing = Missing::default();
    let mut compiler = Compiler::with_file_resolver(Lenient::new(&roots, &missing));
    match compiler.open_file(path) {
        Ok(_) => Ok(compiler.descriptor_pool()),
        Err(error) => {
            let missing = missing.lock().unwrap_or_else(PoisonError::into_inner);
            Err(placed(&error, &missing))
        }
    }
}

/// Imports that were not found, shared with the compiler.
type Missing = Arc<Mutex<Vec<String>>>;

/// An error of the compiler with its file and line, and the imports that were not found.
fn placed(error: &Error, missing: &[String]) -> String {
    let mut text = error.to_string();
    let label = error.labels().and_then(|mut labels| labels.next());
    if let (Some(label), Some(source)) = (label, error.source_code())
        && let Ok(span) = source.read_span(label.inner(), 0, 0)
    {
        let file = error.file().unwrap_or("the file");
        text = format!("{file}, line {}: {text}", span.line() + 1);
    }
    if !missing.is_empty() {
        let names = missing.join(", ");
        text.push_str(&format!(
            "; not found: {names}, looked for in the file's folder and those above it, or in the folders of proto_path"
        ));
    }
    text
}

/// Finds files, and takes options that extensions define out of them: they say nothing on messages, and the files that
/// define them (`google/api/annotations.proto`, `validate/validate.proto`) are often not there.
struct Lenient {
    files: ChainFileResolver,
    roots: Vec<PathBuf>,
    missing: Missing,
}

impl Lenient {
    fn new(roots: &[PathBuf], missing: &Missing) -> Self {
        let mut files = ChainFileResolver::new();
        for root in roots {
            files.add(IncludeFileResolver::new(root.clone()));
        }
        files.add(GoogleFileResolver::new());
        Self {
            files,
            roots: roots.to_vec(),
            missing: Arc::clone(missing),
        }
    }

    fn is_there(&self, import: &str) -> bool {
        self.roots.iter().any(|root| root.join(import).is_file())
            || GoogleFileResolver::new().open_file(import).is_ok()
    }
}

impl FileResolver for Lenient {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        self.files.resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, Error> {
        let file = self.files.open_file(name)?;
        let mut bare = file.file_descriptor_proto().clone();
        let mut changed = false;
        drop_extensions(&mut bare, &mut changed);
        // What an import that is missing defines may be options alone. A message that it defines is missed by name.
        if bare.dependency.iter().any(|import| !self.is_there(import)) {
            changed = true;
            let absent = bare
                .dependency
                .iter()
                .filter(|import| !self.is_there(import));
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.extend(absent.cloned());
            drop_imports(&mut bare, |import| self.is_there(import));
        }
        Ok(if changed {
            File::from_file_descriptor_proto(bare)
        } else {
            file
        })
    }
}

pub(crate) fn drop_imports(file: &mut FileDescriptorProto, stays: impl Fn(&str) -> bool) {
    let mut places = Vec::new();
    let mut kept = Vec::new();
    for import in std::mem::take(&mut file.dependency) {
        places.push(stays(&import).then_some(kept.len() as i32));
        if stays(&import) {
            kept.push(import);
        }
    }
    file.dependency = kept;
    for list in [&mut file.public_dependency, &mut file.weak_dependency] {
        *list = list
            .iter()
            .filter_map(|place| places.get(*place as usize).copied().flatten())
            .collect();
    }
    // Places in the source are found by the numbers of the imports.
    file.source_code_info = None;
}

fn drop_extensions(file: &mut FileDescriptorProto, changed: &mut bool) {
    let mut keep = |options: Option<&mut Vec<UninterpretedOption>>| {
        if let Some(options) = options {
            let before = options.len();
            options.retain(|option| !option.name.first().is_some_and(|part| part.is_extension));
            *changed |= options.len() < before;
        }
    };
    keep(
        file.options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for service in &mut file.service {
        keep(
            service
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
        for method in &mut service.method {
            keep(
                method
                    .options
                    .as_mut()
                    .map(|one| &mut one.uninterpreted_option),
            );
        }
    }
    for field in &mut file.extension {
        keep(
            field
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    file.enum_type
        .iter_mut()
        .for_each(|one| of_enum(one, &mut keep));
    file.message_type
        .iter_mut()
        .for_each(|one| of_message(one, &mut keep));
}

/// What is done with the options at one place.
type Keep<'a> = dyn FnMut(Option<&mut Vec<UninterpretedOption>>) + 'a;

fn of_message(message: &mut DescriptorProto, keep: &mut Keep<'_>) {
    keep(
        message
            .options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for field in message.field.iter_mut().chain(&mut message.extension) {
        keep(
            field
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    for one in &mut message.oneof_decl {
        keep(
            one.options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    for range in &mut message.extension_range {
        keep(
            range
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    message
        .enum_type
        .iter_mut()
        .for_each(|one| of_enum(one, keep));
    message
        .nested_type
        .iter_mut()
        .for_each(|one| of_message(one, keep));
}

fn of_enum(one: &mut EnumDescriptorProto, keep: &mut Keep<'_>) {
    keep(
        one.options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for value in &mut one.value {
        keep(
            value
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of files that is removed in the end.
    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, files: &[(&str, &str)]) -> Self {
            let folder =
                std::env::temp_dir().join(format!("touchstone-{name}-{}", std::process::id()));
            for (file, text) in files {
                let path = folder.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn read(&self, file: &str, roots: &[&str]) -> Result<Schema, String> {
            let named = |name: &&str| self.0.join(name).to_string_lossy().into_owned();
            let roots: Vec<_> = roots.iter().map(named).collect();
            Schema::read(Some(&named(&file)), &roots)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const OTHER: &str = r#"
        syntax = "proto3";
        package a.v1;
        import "google/protobuf/any.proto";
        message Other { google.protobuf.Any any = 1; }
    "#;
    const MAIN: &str = r#"
        syntax = "proto3";
        package a.v1;
        import "a/v1/other.proto";
        import "validate/validate.proto";
        option (company.owner) = "team";
        service S { rpc Get(Other) returns (Other) { option (company.auth) = { role: "x" }; } }
        message Main { string text = 1 [(validate.rules).string.min_len = 1, deprecated = true]; }
        enum E { NONE = 0 [(company.label) = "none"]; }
    "#;

    #[test]
    fn a_file_is_read_once_until_it_changes() {
        let folder = Folder::with("once", &[("a.proto", OTHER)]);
        let path = folder.0.join("a.proto");
        let has = |name: &str| {
            let schema = folder.read("a.proto", &[]).unwrap();
            schema.pool().get_message_by_name(name).is_some()
        };
        assert!(has("a.v1.Other"));
        let changed = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, OTHER.replace("message Other", "message Newer")).unwrap();
        let at = |time| {
            std::fs::File::open(&path)
                .unwrap()
                .set_modified(time)
                .unwrap()
        };
        at(changed);
        assert!(has("a.v1.Other"));
        at(changed + std::time::Duration::from_secs(1));
        assert!(has("a.v1.Newer"));
    }

    #[test]
    fn imports_are_found_above_the_file_and_options_of_extensions_need_no_file() {
        let folder = Folder::with(
            "schema",
            &[("a/v1/main.proto", MAIN), ("a/v1/other.proto", OTHER)],
        );
        for roots in [&[][..], &["."]] {
            let schema = folder.read("a/v1/main.proto", roots).unwrap();
            assert!(schema.pool().get_service_by_name("a.v1.S").is_some());
        }
        let set = folder
            .read("a/v1/main.proto", &[])
            .unwrap()
            .pool()
            .encode_to_vec();
        std::fs::write(folder.0.join("set.binpb"), set).unwrap();
        let schema = folder.read("set.binpb", &[]).unwrap();
        assert!(schema.pool().get_message_by_name("a.v1.Main").is_some());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let broken = "syntax = \"proto3\";\nmessage A {\n  string a = 1\n}\n";
        let lacks = "syntax = \"proto3\"; import \"b.proto\"; message A { b.B b = 1; }";
        let files = [
            ("broken.proto", broken),
            ("lacks.proto", lacks),
            ("set.pb", "junk"),
        ];
        let folder = Folder::with("schema-faults", &files);
        let why = |file: &str| folder.read(file, &[]).unwrap_err();
        assert!(
            why("broken.proto").contains("broken.proto, line 4"),
            "{}",
            why("broken.proto")
        );
        assert!(
            why("lacks.proto").contains("'b.B'"),
            "{}",
            why("lacks.proto")
        );
        assert!(why("lacks.proto").contains("not found: b.proto"));
        assert!(why("set.pb").contains("not a descriptor set"));
        assert!(why("absent.proto").contains("no such file"));
    }
}
