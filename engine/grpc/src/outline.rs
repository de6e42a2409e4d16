//! What a draft says of the methods of a schema: an example of each request, and the types in each response.

use std::collections::BTreeMap;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Value, json};

use crate::Schema;

/// Messages inside one another that an example has.
const DEEPEST: usize = 3;

/// A method as a draft needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// `package.Service/Method`.
    pub name: String,
    /// Whether the request may have any number of messages.
    pub takes_stream: bool,
    /// Whether the response may have any number of messages.
    pub is_streaming: bool,
    /// A message of the request, with a value in each field.
    pub example: Value,
    /// The fields that each message of the response has, with their types in JSON: those that are never null.
    pub fields: BTreeMap<String, &'static str>,
}

/// The methods of a schema, in the order of its files.
#[must_use]
pub fn outlines(schema: &Schema) -> Vec<Outline> {
    let services = schema.pool().services();
    let methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    let outline = |method: prost_reflect::MethodDescriptor| Outline {
        name: format!("{}/{}", method.parent_service().full_name(), method.name()),
        takes_stream: method.is_client_streaming(),
        is_streaming: method.is_server_streaming(),
        example: example(&method.input(), DEEPEST),
        fields: fields(&method.output()),
    };
    methods.map(outline).collect()
}

fn example(message: &MessageDescriptor, depth: usize) -> Value {
    if let Some(value) = well_known(message.full_name()) {
        return value;
    }
    let mut oneofs = Vec::new();
    let chosen = message.fields().filter(|field| {
        // One field of a choice is set.
        let oneof = field
            .containing_oneof()
            .map(|oneof| oneof.full_name().to_owned());
        let is_first = oneof.as_ref().is_none_or(|name| !oneofs.contains(name));
        oneofs.extend(oneof);
        is_first && (depth > 0 || !matches!(field.kind(), Kind::Message(_)))
    });
    let chosen: Vec<_> = chosen.collect();
    let member = |field: FieldDescriptor| {
        let value = of_field(&field, depth);
        Some((field.json_name().to_owned(), value?))
    };
    Value::Object(chosen.into_iter().filter_map(member).collect())
}

fn of_field(field: &FieldDescriptor, depth: usize) -> Option<Value> {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else {
            return None;
        };
        let key = match entry.map_entry_key_field().kind() {
            Kind::String => "text",
            Kind::Bool => "true",
            _ => "1",
        };
        let value = of_kind(&entry.map_entry_value_field().kind(), depth)?;
        return Some(json!({ key: value }));
    }
    let value = of_kind(&field.kind(), depth)?;
    Some(if field.is_list() {
        json!([value])
    } else {
        value
    })
}

fn of_kind(kind: &Kind, depth: usize) -> Option<Value> {
    Some(match kind {
        Kind::Double | Kind::Float => json!(1.5),
        Kind::Bool => json!(true),
        Kind::String => json!("text"),
        Kind::Bytes => json!("AA=="),
        Kind::Message(message) if depth == 0 => well_known(message.full_name())?,
        Kind::Message(message) => example(message, depth - 1),
        Kind::Enum(named) => {
            let values: Vec<_> = named.values().collect();
            // The first means that none is set.
            json!(values.get(1).or_else(|| values.first())?.name())
        }
        _ => json!(1),
    })
}

/// A message with a form of its own in JSON.
fn well_known(name: &str) -> Option<Value> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "Timestamp" => json!("2026-01-01T00:00:00Z"),
        "Duration" => json!("1s"),
        "FieldMask" => json!("text"),
        "Empty" | "Struct" => json!({}),
        "Any" => json!({"@type": "type.googleapis.com/google.protobuf.Empty", "value": {}}),
        "Value" | "StringValue" => json!("text"),
        "ListValue" => json!([]),
        "BoolValue" => json!(true),
        "BytesValue" => json!("AA=="),
        "DoubleValue" | "FloatValue" => json!(1.5),
        "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" => json!(1),
        _ => return None,
    })
}

fn fields(message: &MessageDescriptor) -> BTreeMap<String, &'static str> {
    if message.package_name() == "google.protobuf" {
        return BTreeMap::new();
    }
    let kind = |field: FieldDescriptor| {
        let kind = if field.is_map() {
            "object"
        } else if field.is_list() {
            "array"
        } else if field.supports_presence() {
            return None;
        } else {
            match field.kind() {
                Kind::Double | Kind::Float => "number",
                Kind::Bool => "boolean",
                Kind::String | Kind::Bytes | Kind::Enum(_) => "string",
                Kind::Message(_) => return None,
                _ => "integer",
            }
        };
        Some((field.json_name().to_owned(), kind))
    };
    message.fields().filter_map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    const TEXT: &str = r#"syntax = "proto3";
        package a.v1;
        import "google/protobuf/timestamp.proto";
        import "google/protobuf/empty.proto";
        enum Kind { NONE = 0; SOME = 1; }
        message Deep { Deep in = 1; int32 n = 2; }
        message Note {
          string text = 1; uint64 id = 2; double share = 3; bytes raw = 4; bool done = 5; Kind kind = 6;
          repeated Note notes = 7; map<int32, Deep> by_number = 8; google.protobuf.Timestamp at = 9;
          oneof choice { string left = 10; int32 right = 11; } optional int32 maybe = 12; Deep deep = 13;
        }
        service S {
          rpc Get(Note) returns (Note);
          rpc Chat(stream Note) returns (stream google.protobuf.Empty);
        }"#;

    #[test]
    fn an_example_is_a_message_of_the_method_and_its_types_hold() {
        let path = std::env::temp_dir().join(format!("outline-{}.proto", std::process::id()));
        std::fs::write(&path, TEXT).unwrap();
        let schema = Schema::read(path.to_str(), &[]).unwrap();
        std::fs::remove_file(&path).unwrap();
        let found = outlines(&schema);
        let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a.v1.S/Get", "a.v1.S/Chat"]);
        assert!(found[1].takes_stream && found[1].is_streaming && found[1].fields.is_empty());
        let example = &found[0].example;
        assert_eq!(example["kind"], "SOME");
        assert_eq!(example["left"], "text");
        assert!(example.get("right").is_none());
        let method = Method::find("a.v1.S/Get", &schema).unwrap();
        let mut framed = Vec::new();
        method
            .write(example.to_string().as_bytes(), &mut framed)
            .unwrap();
        let shown: Value = serde_json::from_slice(&method.read(&framed[5..]).unwrap()).unwrap();
        let fields = &found[0].fields;
        assert!(!fields.contains_key("maybe") && !fields.contains_key("left") && fields.len() == 8);
        // A response without any value has every field of the outline as well.
        let empty: Value = serde_json::from_slice(&method.read(b"").unwrap()).unwrap();
        for (name, kind) in fields {
            for value in [&shown[name], &empty[name]] {
                let is_so = match *kind {
                    "integer" => value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    _ => value.is_string(),
                };
                assert!(is_so, "{name}: {value}");
            }
        }
    }
}
