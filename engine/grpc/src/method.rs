//! A method: messages from JSON and to JSON, and what a response to a call of it holds.

use prost::Message as _;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, SerializeOptions};
use serde_json::Value;

use crate::frame;
use crate::schema::Schema;
use crate::wire::Wire;

/// A varint without an end: no message of any type, so that a server refuses it.
const NO_MESSAGE: [u8; 1] = [0xff];

/// A method of a service.
#[derive(Debug, Clone)]
pub struct Method {
    path: String,
    input: MessageDescriptor,
    output: MessageDescriptor,
    is_streaming: bool,
    takes_stream: bool,
}

impl Method {
    /// The service and the method in a name, `package.Service/Method`.
    ///
    /// # Errors
    /// A sentence on the right form.
    pub fn names(name: &str) -> Result<(&str, &str), String> {
        let plain = name.trim_start_matches('/');
        let parts = plain.split_once('/');
        let whole = |(service, method): &(&str, &str)| {
            !service.is_empty() && !method.is_empty() && !method.contains('/')
        };
        parts
            .filter(whole)
            .ok_or_else(|| format!("{name:?} is not a method: write it as package.Service/Method"))
    }

    /// Finds a method by its name, `package.Service/Method`.
    ///
    /// # Errors
    /// A sentence that names the missing service or method, and those that are there.
    pub fn find(name: &str, schema: &Schema) -> Result<Self, String> {
        let (service, method) = Self::names(name)?;
        let Some(found) = schema.pool().get_service_by_name(service) else {
            let known = schema.pool().services();
            let known = listed(known.map(|known| known.full_name().to_owned()));
            return Err(format!(
                "{} has no service {service:?}; it has {known}",
                schema.from()
            ));
        };
        let Some(method) = found.methods().find(|known| known.name() == method) else {
            let known = listed(found.methods().map(|known| known.name().to_owned()));
            return Err(format!(
                "the service {service} has no method {method:?}; it has {known}"
            ));
        };
        Ok(Self {
            path: format!("/{service}/{}", method.name()),
            input: method.input(),
            output: method.output(),
            is_streaming: method.is_server_streaming(),
            takes_stream: method.is_client_streaming(),
        })
    }

    /// Whether the response may have any number of messages.
    #[must_use]
    pub const fn is_streaming(&self) -> bool {
        self.is_streaming
    }

    /// Whether the request may have any number of messages.
    #[must_use]
    pub const fn takes_stream(&self) -> bool {
        self.takes_stream
    }

    /// The request target, `/package.Service/Method`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Appends the request's message with its prefix, from JSON; for a method that takes a stream any number of them, one
    /// value behind the other.
    ///
    /// # Errors
    /// A sentence on why the JSON is no such message. Then something is appended that every server refuses.
    pub fn write(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut values = serde_json::Deserializer::from_slice(json);
        let mut number = 0;
        // `end` passes over white space, and refuses anything else.
        while number == 0 && !self.takes_stream || values.end().is_err() {
            number += 1;
            let message = DynamicMessage::deserialize(self.input.clone(), &mut values);
            let message = match message {
                Ok(message) if number == 1 || self.takes_stream => message,
                Ok(_) => {
                    frame::write(&NO_MESSAGE, out);
                    return Err(format!("{} takes one message", self.path));
                }
                Err(error) => {
                    frame::write(&NO_MESSAGE, out);
                    let why = not_json(&self.input, &error.to_string());
                    return Err(if number == 1 {
                        why
                    } else {
                        format!("message {number}: {why}")
                    });
                }
            };
            frame::write(&message.encode_to_vec(), out);
        }
        Ok(())
    }

    /// A response's message as JSON. Fields without a value have their default, and 64-bit numbers are numbers.
    ///
    /// # Errors
    /// A sentence on why the bytes are no such message.
    pub fn read(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let message = self.decoded(message)?;
        let options = SerializeOptions::new()
            .stringify_64_bit_integers(false)
            .skip_default_fields(false);
        let mut json = serde_json::Serializer::new(Vec::new());
        message
            .serialize_with_options(&mut json, &options)
            .map_err(|error| format!("the message cannot be shown as JSON: {error}"))?;
        Ok(json.into_inner())
    }

    /// What a scan of a response's message needs; none for a message that only the general decoder reads.
    #[must_use]
    pub fn wire(&self) -> Option<Wire> {
        Wire::new(&self.output)
    }

    /// Whether bytes are a response's message.
    ///
    /// # Errors
    /// A sentence on why they are not.
    pub fn check(&self, message: &[u8]) -> Result<(), String> {
        self.decoded(message).map(|_| ())
    }

    /// Whether a response's message has the same fields and values as one in JSON.
    ///
    /// # Errors
    /// A sentence on which of the two is no such message.
    pub fn is_same(&self, wanted: &[u8], message: &[u8]) -> Result<bool, String> {
        self.are_same(wanted, self.decoded(message)?)
    }

    /// As [`Self::is_same`], of a message that is in JSON as well.
    ///
    /// # Errors
    /// A sentence on which of the two is no such message.
    pub fn is_same_json(&self, wanted: &[u8], found: &[u8]) -> Result<bool, String> {
        self.are_same(wanted, from_json(&self.output, found)?)
    }

    fn are_same(&self, wanted: &[u8], found: DynamicMessage) -> Result<bool, String> {
        let wanted = from_json(&self.output, wanted)?;
        if wanted == found {
            return Ok(true);
        }
        // A default that is written out is the same as none, where the schema cannot tell them apart.
        let bare = |message: DynamicMessage| self.decoded(&message.encode_to_vec());
        Ok(bare(wanted)? == bare(found)?)
    }

    /// Whether text is JSON of a response's message.
    ///
    /// # Errors
    /// A sentence on why it is not.
    pub fn expects(&self, wanted: &[u8]) -> Result<(), String> {
        from_json(&self.output, wanted).map(|_| ())
    }

    /// An expected field under the name that [`Self::read`] gives it.
    ///
    /// # Errors
    /// A sentence that names the fields, if it is none of the response's message.
    pub fn field(&self, name: &str, value: &Value) -> Result<(String, Value), String> {
        let mut fields = self.output.fields();
        if is_well_known(&self.output) {
            return Ok((name.to_owned(), value.clone()));
        }
        match fields.find(|field| field.name() == name || field.json_name() == name) {
            Some(field) => Ok((
                field.json_name().to_owned(),
                canonical(&field.kind(), value),
            )),
            None => {
                let known = listed(self.output.fields().map(|field| field.name().to_owned()));
                let message = self.output.full_name();
                Err(format!("{message} has no field {name:?}; it has {known}"))
            }
        }
    }

    fn decoded(&self, message: &[u8]) -> Result<DynamicMessage, String> {
        DynamicMessage::decode(self.output.clone(), message)
            .map_err(|error| format!("the message is not a {}: {error}", self.output.full_name()))
    }
}

/// A value in which nested fields have the names that they have in JSON.
fn canonical(kind: &Kind, value: &Value) -> Value {
    match (kind, value) {
        (Kind::Message(message), Value::Object(members)) if !is_well_known(message) => members
            .iter()
            .map(|(name, value)| {
                let named = |field: &prost_reflect::FieldDescriptor| {
                    field.name() == name || field.json_name() == name
                };
                match message.fields().find(named) {
                    Some(field) => (
                        field.json_name().to_owned(),
                        canonical(&field.kind(), value),
                    ),
                    None => (name.clone(), value.clone()),
                }
            })
            .collect(),
        (_, Value::Array(items)) => items.iter().map(|item| canonical(kind, item)).collect(),
        _ => value.clone(),
    }
}

/// Whether a message has a form of its own in JSON, or is the entry of a map.
fn is_well_known(message: &MessageDescriptor) -> bool {
    message.package_name() == "google.protobuf" || message.is_map_entry()
}

fn from_json(message: &MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, String> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = DynamicMessage::deserialize(message.clone(), &mut reader);
    let read = read.and_then(|message| reader.end().map(|()| message));
    read.map_err(|error| not_json(message, &error.to_string()))
}

fn not_json(message: &MessageDescriptor, why: &str) -> String {
    format!("this is not a {} in JSON: {why}", message.full_name())
}

fn listed(names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let mut names: Vec<_> = names.collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.sort();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let shown = names.join(", ");
    if more > 0 {
        return format!("{shown}, and {more} more");
    }
    shown
}
