//! Server reflection: the files that a server gives of its schema.
//!
//! Source: <https://github.com/grpc/grpc/blob/master/doc/server-reflection.md>.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message as _;
use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};
use protox::file::{FileResolver as _, GoogleFileResolver};
use serde_json::Value;

use crate::schema::drop_imports;

/// The method of each version, the newest first. Their messages are the same.
pub const VERSIONS: [&str; 2] = [
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// More files than any schema has: a server that names imports without end is not asked without end.
const MOST_FILES: usize = 1_000;

/// The files of a schema that came so far.
#[derive(Debug, Default)]
pub struct Reflected {
    files: Vec<FileDescriptorProto>,
    /// The names of the files that came, and of imports that the server does not have.
    known: HashSet<String>,
    /// Imports of files that came.
    imports: Vec<String>,
    /// Imports that nobody has.
    absent: HashSet<String>,
}

impl Reflected {
    /// Takes the files of a response in JSON.
    ///
    /// # Errors
    /// A sentence on the error that the server gave in their place, or on what is wrong with them.
    pub fn take(&mut self, response: &Value) -> Result<(), String> {
        if let Some(error) = response.get("errorResponse") {
            let text = error["errorMessage"].as_str().unwrap_or_default();
            return Err(format!(
                "it answered with error {}: {text}",
                error["errorCode"]
            ));
        }
        let files = response.pointer("/fileDescriptorResponse/fileDescriptorProto");
        let files = files
            .and_then(Value::as_array)
            .filter(|files| !files.is_empty());
        for file in files.ok_or("it answered without a file")? {
            let bytes = STANDARD.decode(file.as_str().unwrap_or_default());
            let bytes = bytes.map_err(|error| error.to_string())?;
            let file = FileDescriptorProto::decode(bytes.as_slice())
                .map_err(|error| format!("a file that it gave is not a descriptor: {error}"))?;
            self.add(file);
        }
        if self.files.len() > MOST_FILES {
            return Err(format!("it gave more than {MOST_FILES} files"));
        }
        Ok(())
    }

    fn add(&mut self, file: FileDescriptorProto) {
        if self.known.insert(file.name.clone().unwrap_or_default()) {
            self.imports.extend(file.dependency.iter().cloned());
            self.files.push(file);
        }
    }

    /// The name of an import that has not come.
    #[must_use]
    pub fn missing(&mut self) -> Option<String> {
        while let Some(import) = self.imports.pop() {
            if !self.known.contains(&import) {
                self.imports.push(import.clone());
                return Some(import);
            }
        }
        None
    }

    /// Has an import be that of Google's own files, or none: the server does not have it.
    pub fn lacks(&mut self, import: &str) {
        match GoogleFileResolver::new().open_file(import) {
            Ok(file) => self.add(file.file_descriptor_proto().clone()),
            Err(_) => {
                self.absent.insert(import.to_owned());
            }
        }
        self.known.insert(import.to_owned());
    }

    /// The files as a descriptor set in base64.
    #[must_use]
    pub fn set(mut self) -> String {
        let defined = self
            .files
            .iter()
            .map(|file| (file.name().to_owned(), types(file)));
        let defined: Vec<_> = defined.collect();
        for file in &mut self.files {
            import_types(file, &defined);
            // An option that an absent file defines says nothing on messages; a message of it is missed by name.
            drop_imports(file, |import| !self.absent.contains(import));
        }
        STANDARD.encode(FileDescriptorSet { file: self.files }.encode_to_vec())
    }
}

/// The full names of the messages and enums that a file defines.
fn types(file: &FileDescriptorProto) -> Vec<String> {
    fn nested(scope: &str, message: &DescriptorProto, found: &mut Vec<String>) {
        let name = format!("{scope}.{}", message.name());
        let enums = message.enum_type.iter();
        found.extend(enums.map(|one| format!("{name}.{}", one.name())));
        for inner in &message.nested_type {
            nested(&name, inner, found);
        }
        found.push(name);
    }
    let scope = match file.package() {
        "" => String::new(),
        package => format!(".{package}"),
    };
    let enums = file.enum_type.iter();
    let mut found: Vec<_> = enums.map(|one| format!("{scope}.{}", one.name())).collect();
    for message in &file.message_type {
        nested(&scope, message, &mut found);
    }
    found
}

/// Has a file import those that define its types: servers of Node give files without imports.
fn import_types(file: &mut FileDescriptorProto, defined: &[(String, Vec<String>)]) {
    fn fields(message: &DescriptorProto, found: &mut HashSet<String>) {
        let named = message
            .field
            .iter()
            .filter_map(|field| field.type_name.clone());
        found.extend(named);
        message
            .nested_type
            .iter()
            .for_each(|inner| fields(inner, found));
    }
    let mut named = HashSet::new();
    for method in file.service.iter().flat_map(|service| &service.method) {
        named.extend([
            method.input_type().to_owned(),
            method.output_type().to_owned(),
        ]);
    }
    file.message_type
        .iter()
        .for_each(|message| fields(message, &mut named));
    for (other, types) in defined {
        // A name without a dot before it is one in a scope that is not said.
        let defines = |name: &String| {
            types.iter().any(|known| {
                known == name || !name.starts_with('.') && known.ends_with(&format!(".{name}"))
            })
        };
        if other != file.name() && !file.dependency.contains(other) && named.iter().any(defines) {
            file.dependency.push(other.clone());
        }
    }
}

/// The services of a response in JSON that lists them, by name.
#[must_use]
pub fn services(response: &Value) -> Vec<String> {
    let listed = response.pointer("/listServicesResponse/service");
    let mut names: Vec<_> = (listed.and_then(Value::as_array).into_iter().flatten())
        .filter_map(|service| service["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use prost_types::FieldDescriptorProto;
    use serde_json::json;

    use super::*;
    use crate::{Method, Schema};

    fn file(name: &str, text: &str) -> Value {
        let file = protox::file::File::from_source(name, text).unwrap();
        let mut file = file.file_descriptor_proto().clone();
        file.source_code_info = None;
        json!({"fileDescriptorResponse": {"fileDescriptorProto": [STANDARD.encode(file.encode_to_vec())]}})
    }

    #[test]
    fn a_schema_is_put_together_file_by_file() {
        let mut found = Reflected::default();
        let main = r#"syntax = "proto3"; package a; import "b.proto"; import "gone/options.proto";
            import "google/protobuf/empty.proto";
            service S { rpc Get(google.protobuf.Empty) returns (B); }"#;
        found.take(&file("a.proto", main)).unwrap();
        let b = r#"syntax = "proto3"; package a; message B { int32 n = 1; }"#;
        found.take(&file("b.proto", b)).unwrap();
        for name in ["google/protobuf/empty.proto", "gone/options.proto"] {
            assert_eq!(found.missing().as_deref(), Some(name));
            found.lacks(name);
        }
        assert_eq!(found.missing(), None);
        let schema = Schema::reflected(&found.set()).unwrap();
        assert!(Method::find("a.S/Get", &schema).is_ok());
        assert!(Schema::reflected("%").unwrap_err().contains("base64"));
    }

    #[test]
    fn files_without_imports_find_the_types_of_each_other() {
        let of_type = |name: &str| FieldDescriptorProto {
            name: Some("held".to_owned()),
            number: Some(1),
            r#type: Some(11),
            label: Some(1),
            type_name: Some(name.to_owned()),
            ..FieldDescriptorProto::default()
        };
        let file = |package: &str, message: &str, held: &str| FileDescriptorProto {
            name: Some(format!("{package}.proto")),
            package: Some(package.to_owned()),
            message_type: vec![DescriptorProto {
                name: Some(message.to_owned()),
                field: vec![of_type(held)],
                ..DescriptorProto::default()
            }],
            syntax: Some("proto3".to_owned()),
            ..FileDescriptorProto::default()
        };
        let mut found = Reflected::default();
        found.add(file("talk.v1", "Line", "common.Meta"));
        found.add(file("common", "Meta", "Meta"));
        found.add(file("other", "Meta", ".common.Meta"));
        let schema = Schema::reflected(&found.set()).unwrap();
        let line = schema.pool().get_message_by_name("talk.v1.Line").unwrap();
        let held = line.fields().next().unwrap().kind();
        assert_eq!(held.as_message().unwrap().full_name(), "common.Meta");
    }

    #[test]
    fn an_error_and_files_that_are_none_are_sentences() {
        let mut found = Reflected::default();
        let mut why = |response| found.take(&response).unwrap_err();
        let error = json!({"errorResponse": {"errorCode": 5, "errorMessage": "not found: a.S"}});
        assert!(why(error).contains("error 5: not found: a.S"));
        assert!(why(json!({"listServicesResponse": {}})).contains("without a file"));
        let junk = json!({"fileDescriptorResponse": {"fileDescriptorProto": ["/w=="]}});
        assert!(why(junk).contains("not a descriptor"));
        let listed =
            json!({"listServicesResponse": {"service": [{"name": "b.T"}, {"name": "a.S"}]}});
        assert_eq!(services(&listed), ["a.S", "b.T"]);
    }
}
