//! Messages as they are on the wire: held against their type, and read at a few places, without building them.
//!
//! [`Wire::scan`] accepts less than the general decoder does, and nothing that it refuses. A message that the scan does not
//! accept may be right all the same: then the general decoder decides. Source: the Protocol Buffers encoding guide.

use std::collections::HashMap;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// Messages inside one another that a scan follows; the general decoder follows 100.
const DEEPEST: usize = 32;

/// Places that one scan reads.
const MOST_SPOTS: usize = 8;

/// The wire types (encoding guide, "Message Structure"); groups are left to the general decoder.
const VARINT: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const LENGTH: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// A message type, and all types inside it, as far as a scan needs them.
#[derive(Debug, Clone)]
pub struct Wire {
    /// The message's own type is the first.
    types: Vec<Type>,
    /// The message itself is the first.
    nodes: Vec<Node>,
    root: MessageDescriptor,
    spots: usize,
}

#[derive(Debug, Clone)]
struct Type {
    /// In the order of their numbers.
    fields: Vec<Field>,
    /// Whether an unknown number may be an extension's.
    extends: bool,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    number: u32,
    shape: Shape,
    /// Whether many values may come in one length-delimited field.
    packs: bool,
}

/// What a field's bytes must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Varint,
    EightBytes,
    FourBytes,
    Text,
    Bytes,
    /// A message of the type at this place.
    Message(usize),
    /// Known to the general decoder only.
    General,
}

/// A message on the way to places that are read: field numbers, and what is there.
#[derive(Debug, Clone, Default)]
struct Node {
    steps: Vec<(u32, Step)>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// A message with further steps.
    Node(usize),
    /// A value that is kept under this number.
    Spot(usize),
}

/// A place that is read: the number under which its value is kept, and how it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    slot: usize,
    kind: Kind,
    /// Whether a message without the field has its default.
    has_default: bool,
}

/// What a message has at the places that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found<'m>([Raw<'m>; MOST_SPOTS]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Raw<'m> {
    #[default]
    Absent,
    Bits(u64),
    Bytes(&'m [u8]),
}

/// What the JSON of a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A whole number.
    Whole,
    /// A boolean.
    Truth,
    /// The text itself.
    Text,
    /// Anything else.
    Other,
}

impl Sort {
    const fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Uint32 | Kind::Fixed32 => {
                Self::Whole
            }
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => {
                Self::Whole
            }
            Kind::Bool => Self::Truth,
            Kind::String => Self::Text,
            _ => Self::Other,
        }
    }
}

impl Spot {
    /// What the JSON of the value is.
    #[must_use]
    pub const fn sort(&self) -> Sort {
        Sort::of(&self.kind)
    }

    /// The whole number there; a boolean is 0 or 1. None where there is none.
    #[must_use]
    pub fn whole(&self, found: &Found<'_>) -> Option<i128> {
        let bits = match found.0[self.slot] {
            Raw::Bits(bits) => bits,
            Raw::Absent if self.has_default => 0,
            Raw::Absent | Raw::Bytes(_) => return None,
        };
        // A varint that is too long for its type loses its upper bits.
        Some(match self.kind {
            Kind::Int32 | Kind::Sfixed32 => i128::from(bits as i32),
            Kind::Uint32 | Kind::Fixed32 => i128::from(bits as u32),
            Kind::Int64 | Kind::Sfixed64 => i128::from(bits as i64),
            Kind::Uint64 | Kind::Fixed64 => i128::from(bits),
            Kind::Sint32 => i128::from(unzigzag(u64::from(bits as u32))),
            Kind::Sint64 => i128::from(unzigzag(bits)),
            Kind::Bool => i128::from(bits != 0),
            _ => return None,
        })
    }

    /// The text there; none where there is none.
    #[must_use]
    pub fn text<'m>(&self, found: &Found<'m>) -> Option<&'m [u8]> {
        match found.0[self.slot] {
            Raw::Bytes(text) if matches!(self.kind, Kind::String) => Some(text),
            Raw::Absent if matches!(self.kind, Kind::String) && self.has_default => Some(b""),
            _ => None,
        }
    }
}

const fn unzigzag(bits: u64) -> i64 {
    (bits >> 1) as i64 ^ -((bits & 1) as i64)
}

impl Wire {
    /// The layout of a message type; none for one with a JSON form of its own.
    #[must_use]
    pub fn new(message: &MessageDescriptor) -> Option<Self> {
        if is_special(message) {
            return None;
        }
        let mut types = Vec::new();
        add_type(message, &mut types, &mut HashMap::new());
        Some(Self {
            types,
            nodes: vec![Node::default()],
            root: message.clone(),
            spots: 0,
        })
    }

    /// The names that the message's fields have in JSON.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let fields = self.root.fields();
        fields.map(|field| field.json_name().to_owned())
    }

    /// What the value of a field is, by its name in JSON, and whether the JSON of every message has it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(Sort, bool)> {
        let field = single(&self.root, name)?;
        Some((Sort::of(&field.kind()), !field.supports_presence()))
    }

    /// Has a scan read the value on a path of names in JSON. None for a place that only the general decoder can read: in a list,
    /// a map or a choice, or in a message with a JSON form of its own.
    pub fn spot(&mut self, path: &[impl AsRef<str>]) -> Option<Spot> {
        let (last, way) = path.split_last()?;
        let (mut message, mut numbers) = (self.root.clone(), Vec::new());
        for name in way {
            let field = single(&message, name.as_ref())?;
            let Kind::Message(inner) = field.kind() else {
                return None;
            };
            if is_special(&inner) || field.is_group() {
                return None;
            }
            numbers.push(field.number());
            message = inner;
        }
        let field = single(&message, last.as_ref())?;
        if matches!(field.kind(), Kind::Message(_)) {
            return None;
        }
        let mut node = 0;
        for number in numbers {
            node = match self.step(node, number) {
                Some(Step::Node(next)) => next,
                Some(Step::Spot(_)) => return None,
                None => {
                    self.nodes.push(Node::default());
                    let next = self.nodes.len() - 1;
                    self.nodes[node].steps.push((number, Step::Node(next)));
                    next
                }
            };
        }
        let slot = match self.step(node, field.number()) {
            Some(Step::Spot(slot)) => slot,
            Some(Step::Node(_)) => return None,
            None if self.spots == MOST_SPOTS => return None,
            None => {
                let slot = self.spots;
                self.spots += 1;
                self.nodes[node]
                    .steps
                    .push((field.number(), Step::Spot(slot)));
                slot
            }
        };
        Some(Spot {
            slot,
            kind: field.kind(),
            // Inside a message that may be missing, the JSON may lack the field too.
            has_default: way.is_empty() && !field.supports_presence(),
        })
    }

    /// Reads a message; none if it is not of the type, or if only the general decoder knows.
    #[must_use]
    pub fn scan<'m>(&self, message: &'m [u8]) -> Option<Found<'m>> {
        let mut found = Found::default();
        self.message(0, Some(0), message, DEEPEST, &mut found)?;
        Some(found)
    }

    fn step(&self, node: usize, number: u32) -> Option<Step> {
        let mut steps = self.nodes[node].steps.iter();
        steps
            .find(|(known, _)| *known == number)
            .map(|(_, step)| *step)
    }

    fn message<'m>(
        &self,
        kind: usize,
        node: Option<usize>,
        mut rest: &'m [u8],
        depth: usize,
        found: &mut Found<'m>,
    ) -> Option<()> {
        let of = &self.types[kind];
        while !rest.is_empty() {
            let key = u32::try_from(varint(&mut rest)?).ok()?;
            let (number, wire) = (key >> 3, (key & 7) as u8);
            let Some(field) = of.field(number) else {
                if of.extends || number == 0 {
                    return None;
                }
                raw(wire, &mut rest)?;
                continue;
            };
            let value = raw(wire, &mut rest)?;
            let step = node.and_then(|node| self.step(node, number));
            match (field.shape, wire, value) {
                (Shape::Varint, VARINT, _)
                | (Shape::EightBytes, EIGHT_BYTES, _)
                | (Shape::FourBytes, FOUR_BYTES, _)
                | (Shape::Bytes, LENGTH, _) => {}
                (Shape::Text, LENGTH, Raw::Bytes(text)) => {
                    std::str::from_utf8(text).ok()?;
                }
                (Shape::Message(inner), LENGTH, Raw::Bytes(bytes)) => {
                    let next = match step {
                        Some(Step::Node(next)) => Some(next),
                        _ => None,
                    };
                    self.message(inner, next, bytes, depth.checked_sub(1)?, found)?;
                }
                (shape, LENGTH, Raw::Bytes(bytes)) if field.packs => packed(shape, bytes)?,
                _ => return None,
            }
            if let Some(Step::Spot(slot)) = step {
                found.0[slot] = value;
            }
        }
        Some(())
    }
}

impl Type {
    #[inline]
    fn field(&self, number: u32) -> Option<Field> {
        // Most types number their fields from 1 without a gap.
        let guess = self.fields.get((number as usize).wrapping_sub(1));
        if let Some(field) = guess
            && field.number == number
        {
            return Some(*field);
        }
        let place = self
            .fields
            .binary_search_by_key(&number, |field| field.number);
        place.ok().map(|place| self.fields[place])
    }
}

/// Whether the general decoder or its JSON treats a message in a way of its own.
fn is_special(message: &MessageDescriptor) -> bool {
    message.package_name() == "google.protobuf"
}

fn field_in_json(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let mut named = message.fields().filter(|field| field.json_name() == name);
    let field = named.next();
    field.filter(|_| named.next().is_none())
}

/// A field that is there once, whatever other fields are set.
fn single(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let field = field_in_json(message, name)?;
    let chosen = field.containing_oneof();
    let is_choice = chosen.is_some_and(|oneof| !oneof.is_synthetic());
    (!is_choice && !field.is_list() && !field.is_map()).then_some(field)
}

fn add_type(
    message: &MessageDescriptor,
    types: &mut Vec<Type>,
    known: &mut HashMap<String, usize>,
) -> usize {
    if let Some(place) = known.get(message.full_name()) {
        return *place;
    }
    let place = types.len();
    known.insert(message.full_name().to_owned(), place);
    types.push(Type {
        fields: Vec::new(),
        extends: message.extensions().len() > 0,
    });
    let field = |field: FieldDescriptor| {
        let shape = match field.kind() {
            _ if field.is_group() => Shape::General,
            Kind::Message(inner) if is_special(&inner) => Shape::General,
            Kind::Message(inner) => Shape::Message(add_type(&inner, types, known)),
            Kind::String => Shape::Text,
            Kind::Bytes => Shape::Bytes,
            Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Shape::EightBytes,
            Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Shape::FourBytes,
            _ => Shape::Varint,
        };
        let is_number = matches!(shape, Shape::Varint | Shape::EightBytes | Shape::FourBytes);
        Field {
            number: field.number(),
            shape,
            packs: field.is_list() && is_number,
        }
    };
    let mut fields: Vec<_> = message.fields().map(field).collect();
    fields.sort_by_key(|field| field.number);
    types[place].fields = fields;
    place
}

/// The value of a field with this wire type.
#[inline(always)]
fn raw<'m>(wire: u8, rest: &mut &'m [u8]) -> Option<Raw<'m>> {
    Some(match wire {
        VARINT => Raw::Bits(varint(rest)?),
        LENGTH => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (bytes, behind) = rest.split_at_checked(length)?;
            *rest = behind;
            Raw::Bytes(bytes)
        }
        EIGHT_BYTES => {
            let (bytes, behind) = rest.split_first_chunk::<8>()?;
            *rest = behind;
            Raw::Bits(u64::from_le_bytes(*bytes))
        }
        FOUR_BYTES => {
            let (bytes, behind) = rest.split_first_chunk::<4>()?;
            *rest = behind;
            Raw::Bits(u64::from(u32::from_le_bytes(*bytes)))
        }
        _ => return None,
    })
}

/// Many values of a shape, one behind the other.
fn packed(shape: Shape, mut rest: &[u8]) -> Option<()> {
    while !rest.is_empty() {
        match shape {
            Shape::Varint => drop(varint(&mut rest)?),
            Shape::EightBytes => drop(raw(EIGHT_BYTES, &mut rest)?),
            Shape::FourBytes => drop(raw(FOUR_BYTES, &mut rest)?),
            _ => return None,
        }
    }
    Some(())
}

#[inline]
fn varint(rest: &mut &[u8]) -> Option<u64> {
    if let Some((byte, behind)) = rest.split_first()
        && *byte < 0x80
    {
        *rest = behind;
        return Some(u64::from(*byte));
    }
    long_varint(rest)
}

fn long_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        // The tenth byte has one bit left.
        if shift == 63 && *byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}
