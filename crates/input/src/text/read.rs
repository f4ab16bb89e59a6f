//! Reads types from a tree: the one deserializer that every type of inputs is compiled for.
//!
//! An error knows the way to its value, because each list and each table that it passes adds a step. What is generic here is
//! compiled for each of some five hundred types, so it calls the visitor and leaves everything else to what is not.

mod refused;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::source::Format;
use super::tree::{Node, TreeEntry, Value};
pub use refused::Unwanted;
pub(super) use refused::{KnownNames, Refusal, WantedType, Why};

/// A type of inputs, as far as one can ask what is wrong with a text without having it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    try_read: fn(TreeReader<'_>) -> Result<(), Unwanted>,
}

impl Shape {
    /// Returns the shape of a type.
    pub(super) fn of<T: Decode>() -> Self {
        Self { try_read: |it| T::read(it).map(drop) }
    }

    /// Returns the shape of a type that is read where it is asked for.
    pub(super) fn of_table<T: DeserializeOwned>() -> Self {
        Self { try_read: |it| T::deserialize(it).map(drop) }
    }

    /// Reads a value and drops it.
    pub(super) fn try_read(self, node: &Node, format: Format) -> Result<(), Unwanted> {
        (self.try_read)(TreeReader::new(node, format))
    }

    /// Returns the fields at the top; a field of no name is what makes a type list them.
    pub(super) fn fields(self) -> KnownNames {
        let nameless = Node::table(vec![(String::new(), Node::of(Value::Bool(true)))]);
        let asked = self.try_read(&nameless, Format::Toml).map_err(|it| it.told().why);
        if let Err(Why::Field(_, known)) = asked { known } else { &[] }
    }
}

/// A type of inputs, which is compiled for the reader once, in the package that has it, and not in each that reads it:
/// [`decoded_here`](crate::decoded_here) says so.
pub trait Decode: Sized {
    /// Reads it from a tree.
    ///
    /// # Errors
    /// The first value that the type refuses.
    fn read(from: TreeReader<'_>) -> Result<Self, Unwanted>;
}

/// Compiles the reading of types here.
#[macro_export]
macro_rules! decoded_here {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::text::Decode for $type {
            #[inline(never)]
            fn read(from: $crate::text::TreeReader<'_>) -> Result<Self, $crate::text::Unwanted> {
                from.read()
            }
        })*
    };
}

/// A value that a type is read from.
#[derive(Clone, Copy)]
pub struct TreeReader<'de> {
    node: &'de Node,
    format: Format,
    part: NodePart,
}

/// What of a node is read.
#[derive(Clone, Copy, PartialEq)]
enum NodePart {
    /// All of it.
    Whole,
    /// What its parentheses hold: the fields or the one value of a choice in RON.
    Inside,
    /// It is the name of a field.
    Name,
}

/// Reads what is one value, which may stand alone in the parentheses of a choice.
macro_rules! one {
    ($($wanted:ident $take:ident: $($call:ident $visit:ident)*,)*) => {
        $($(fn $call<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unwanted> {
            let (one, index) = self.alone(WantedType::$wanted)?;
            match one.$take() {
                Ok(it) => match visitor.$visit(it) {
                    Ok(value) => Ok(value),
                    Err(refused) => Err(Unwanted::within(refused, index)),
                },
                Err(refused) => Err(refused.within(index)),
            }
        })*)*
    };
}

/// Reads a whole number, which visitors take with or without a sign.
macro_rules! whole {
    ($($call:ident $name:literal,)*) => {
        $(fn $call<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unwanted> {
            let (one, index) = self.alone(WantedType::Whole)?;
            let read = match one.whole($name) {
                Ok(WholeNumber::Signed(it)) => visitor.visit_i64(it),
                Ok(WholeNumber::Unsigned(it)) => visitor.visit_u64(it),
                Err(refused) => Err(refused),
            };
            match read {
                Ok(value) => Ok(value),
                Err(refused) => Err(refused.within(index)),
            }
        })*
    };
}

/// A whole number as visitors take it.
enum WholeNumber {
    Signed(i64),
    Unsigned(u64),
}

impl<'de> TreeReader<'de> {
    /// Reads a type, which is compiled for this where it is called.
    ///
    /// # Errors
    /// The first value that the type refuses.
    pub fn read<T: Deserialize<'de>>(self) -> Result<T, Unwanted> {
        T::deserialize(self)
    }

    pub(super) fn new(node: &'de Node, format: Format) -> Self {
        Self { node, format, part: NodePart::Whole }
    }

    /// Returns the reader of another value of the same text.
    fn of(self, node: &'de Node) -> Self {
        Self { node, part: NodePart::Whole, ..self }
    }

    /// Returns whether it is what parentheses hold.
    fn is_inside(self) -> bool {
        self.part == NodePart::Inside
    }

    fn inside(self) -> Self {
        Self { part: NodePart::Inside, ..self }
    }

    /// Returns the value itself, or the only one in the parentheses of a choice with its index.
    fn alone(self, wanted: WantedType) -> Result<(Self, Option<usize>), Unwanted> {
        if !self.is_inside() {
            return Ok((self, None));
        }
        let mut there = live(self.node.entries());
        match (there.next(), there.next()) {
            (Some((index, entry)), None) if entry.key.is_none() => Ok((self.of(&entry.value), Some(index))),
            (Some((_, TreeEntry { key: None, .. })), Some((index, _))) => {
                Err(Unwanted::new(Why::Rest).below(index))
            }
            (None, _) => Err(Unwanted::new(Why::Bare(self.node.tag().unwrap_or_default().to_owned()))),
            _ => Err(Unwanted::wanted(wanted)),
        }
    }

    /// Adds the step to the only value in parentheses to what its type says once it is read.
    fn alone_refused(self, refused: Unwanted) -> Unwanted {
        match self.alone(WantedType::Nothing) {
            Ok((_, Some(index))) if refused.is_here() => refused.below(index),
            _ => refused,
        }
    }

    fn flag(self) -> Result<bool, Unwanted> {
        match &self.node.value {
            Value::Bool(it) => Ok(*it),
            Value::Word(it) if it == "true" => Ok(true),
            Value::Word(it) if it == "false" => Ok(false),
            _ => Err(Unwanted::wanted(WantedType::Flag)),
        }
    }

    fn whole(self, expected: &str) -> Result<WholeNumber, Unwanted> {
        let Value::Whole(number) = self.node.value else { return Err(Unwanted::wanted(WantedType::Whole)) };
        let signed = || i64::try_from(number).map(WholeNumber::Signed);
        let read = u64::try_from(number).map(WholeNumber::Unsigned).or_else(|_| signed());
        read.map_err(|_| self.too_long(expected))
    }

    /// Refuses a number that no type holds.
    fn too_long(self, expected: &str) -> Unwanted {
        let number = match self.node.value {
            Value::Whole(number) if number > i128::MIN && number < i128::MAX => number.to_string(),
            _ => String::new(),
        };
        Unwanted::new(Why::Range { number, expected: expected.to_owned() })
    }

    fn real(self) -> Result<f64, Unwanted> {
        match &self.node.value {
            Value::Real(it) => Ok(*it),
            Value::Whole(i128::MAX | i128::MIN) => Err(self.too_long("f64")),
            Value::Whole(it) => Ok(*it as f64),
            Value::Word(it) if it == "inf" => Ok(f64::INFINITY),
            Value::Word(it) if it == "NaN" => Ok(f64::NAN),
            _ => Err(Unwanted::wanted(WantedType::Number)),
        }
    }

    fn text(self) -> Result<&'de str, Unwanted> {
        match &self.node.value {
            Value::Text(it) => Ok(it),
            Value::Word(it) if self.part == NodePart::Name => Ok(it),
            _ => Err(Unwanted::wanted(WantedType::Text)),
        }
    }

    /// Returns a name: of a field, or a key that a type knows.
    fn name(self) -> Result<&'de str, Unwanted> {
        match &self.node.value {
            Value::Word(it) => Ok(it),
            Value::Text(it) if self.format == Format::Toml => Ok(it),
            _ => Err(Unwanted::wanted(WantedType::Name)),
        }
    }

    fn list(self) -> Result<NodeEntries<'de>, Unwanted> {
        match &self.node.value {
            Value::List(entries) => Ok(self.entries(entries, NodePart::Whole)),
            _ => Err(Unwanted::wanted(WantedType::List)),
        }
    }

    fn map(self) -> Result<NodeEntries<'de>, Unwanted> {
        match &self.node.value {
            Value::Map(entries) => self.fields(entries, NodePart::Whole),
            _ => Err(Unwanted::wanted(WantedType::Map)),
        }
    }

    /// Returns what parentheses hold, behind no name but that of the type.
    fn parentheses(self, name: &str) -> Result<&'de [TreeEntry], Unwanted> {
        match &self.node.value {
            Value::Group(tag, entries) if self.is_inside() || tag.is_empty() || tag == name => Ok(entries),
            _ => Err(Unwanted::wanted(WantedType::Fields)),
        }
    }

    /// Returns values of a fixed number, for a type of a name.
    fn tuple(self, name: &str) -> Result<NodeEntries<'de>, Unwanted> {
        if self.format == Format::Toml {
            return self.list();
        }
        let entries = self.parentheses(name)?;
        let is_named = live(entries).any(|(_, it)| it.key.is_some());
        if is_named {
            Err(Unwanted::wanted(WantedType::List))
        } else {
            Ok(self.entries(entries, NodePart::Whole))
        }
    }

    /// Returns the fields of a type of a name.
    fn named(self, name: &str) -> Result<NodeEntries<'de>, Unwanted> {
        match self.format {
            Format::Toml => self.map(),
            Format::Ron => self.fields(self.parentheses(name)?, NodePart::Name),
        }
    }

    /// Returns entries that all have a key.
    fn fields(self, entries: &'de [TreeEntry], part: NodePart) -> Result<NodeEntries<'de>, Unwanted> {
        match live(entries).find(|(_, it)| it.key.is_none()) {
            Some((index, _)) => Err(Unwanted::wanted(WantedType::Name).below(index)),
            None => Ok(self.entries(entries, part)),
        }
    }

    fn entries(self, entries: &'de [TreeEntry], part: NodePart) -> NodeEntries<'de> {
        NodeEntries { of: self, entries, part, next: 0 }
    }

    /// Returns the choice that it names.
    fn choice(self) -> Result<VariantNode<'de>, Unwanted> {
        let held = match (&self.node.value, self.format) {
            (Value::Text(_), Format::Toml) | (Value::Word(_), Format::Ron) => None,
            (Value::Group(tag, _), Format::Ron) if !tag.is_empty() => Some((self.inside(), None)),
            (Value::Map(entries), Format::Toml) => {
                let mut there = live(entries);
                let Some((index, entry)) = there.next().filter(|_| there.next().is_none()) else {
                    return Err(Unwanted::new(Why::Several));
                };
                Some((self.of(&entry.value), Some(index)))
            }
            _ => return Err(Unwanted::wanted(WantedType::Name)),
        };
        Ok(VariantNode { of: self, held })
    }

    /// Returns whether it is nothing.
    fn is_none(self) -> bool {
        matches!((&self.node.value, self.format), (Value::Word(it), Format::Ron) if it == "None")
    }

    /// Returns what `Some` holds, or the value itself.
    fn some(self) -> Self {
        match &self.node.value {
            Value::Group(tag, _) if !self.is_inside() && tag == "Some" => self.inside(),
            _ => self,
        }
    }
}

/// Returns entries that are to be read, with their indices.
fn live(entries: &[TreeEntry]) -> impl Iterator<Item = (usize, &TreeEntry)> {
    entries.iter().enumerate().filter(|(_, it)| !it.value.is_skipped)
}

impl<'de> Deserializer<'de> for TreeReader<'de> {
    type Error = Unwanted;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unwanted> {
        if self.is_inside() && live(self.node.entries()).all(|(_, it)| it.key.is_none()) {
            if live(self.node.entries()).count() > 1 {
                return self.deserialize_tuple(0, visitor);
            }
            let (one, index) = self.alone(WantedType::Nothing)?;
            return one.deserialize_any(visitor).map_err(|it| it.within(index));
        }
        match &self.node.value {
            Value::Bool(_) => self.deserialize_bool(visitor),
            Value::Whole(_) => self.deserialize_i64(visitor),
            Value::Real(_) => self.deserialize_f64(visitor),
            Value::Letter(it) => visitor.visit_char(*it),
            Value::Text(_) => self.deserialize_str(visitor),
            Value::Word(word) if word == "true" || word == "false" => self.deserialize_bool(visitor),
            Value::Word(word) if word == "inf" || word == "NaN" => self.deserialize_f64(visitor),
            Value::Word(_) if self.is_none() => visitor.visit_none(),
            Value::Word(_) => visitor.visit_unit(),
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
            Value::Group(_, entries) => {
                let (inside, is_named) = (self.inside(), entries.first().is_some_and(|it| it.key.is_some()));
                if is_named {
                    inside.deserialize_struct("", &[], visitor)
                } else {
                    inside.deserialize_tuple(0, visitor)
                }
            }
        }
    }

    one! {
        Flag flag: deserialize_bool visit_bool,
        Number real: deserialize_f64 visit_f64,
        Text text: deserialize_str visit_borrowed_str deserialize_string visit_borrowed_str,
        Name name: deserialize_identifier visit_borrowed_str,
        List list: deserialize_seq visit_seq,
        Map map: deserialize_map visit_map,
    }

    whole! {
        deserialize_i32 "i32", deserialize_i64 "i64", deserialize_u8 "u8", deserialize_u16 "u16", deserialize_u32 "u32",
        deserialize_u64 "u64",
    }

    // What no input asks for is read as what it is.
    forward_to_deserialize_any! { i8 i16 i128 u128 f32 char bytes byte_buf unit unit_struct ignored_any }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unwanted> {
        if self.is_none() { visitor.visit_none() } else { visitor.visit_some(self.some()) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unwanted> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Unwanted> {
        self.deserialize_tuple_struct("", length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Unwanted> {
        match self.tuple(name) {
            Ok(mut elements) => match visitor.visit_seq(&mut elements) {
                Ok(value) => elements.end().map(|()| value),
                Err(refused) => Err(refused),
            },
            Err(refused) => Err(refused),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: KnownNames,
        visitor: V,
    ) -> Result<V::Value, Unwanted> {
        match self.named(name) {
            Ok(fields) => visitor.visit_map(fields),
            Err(refused) => Err(refused),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: KnownNames,
        visitor: V,
    ) -> Result<V::Value, Unwanted> {
        let (one, index) = self.alone(WantedType::Name)?;
        match one.choice() {
            Ok(choice) => match visitor.visit_enum(choice) {
                Ok(value) => Ok(value),
                Err(refused) => Err(refused.within(index)),
            },
            Err(refused) => Err(refused.within(index)),
        }
    }
}

/// Elements one by one, or keys and values by turns.
struct NodeEntries<'de> {
    of: TreeReader<'de>,
    entries: &'de [TreeEntry],
    /// What the keys are.
    part: NodePart,
    next: usize,
}

impl<'de> NodeEntries<'de> {
    /// Returns the index of the next entry.
    fn step(&mut self) -> Option<usize> {
        let index = (self.next..self.entries.len()).find(|it| !self.entries[*it].value.is_skipped)?;
        self.next = index + 1;
        Some(index)
    }

    /// Returns the next key, if there is an entry with one.
    fn key(&mut self) -> Option<TreeReader<'de>> {
        let index = self.step()?;
        let key = self.entries[index].key.as_ref()?;
        Some(TreeReader { part: self.part, ..self.of.of(key) })
    }

    /// Returns the value of the entry that was stepped to.
    fn value(&self) -> TreeReader<'de> {
        self.of.of(&self.entries[self.next - 1].value)
    }

    /// Refuses elements that were not read.
    fn end(&mut self) -> Result<(), Unwanted> {
        self.step().map_or(Ok(()), |index| Err(Unwanted::new(Why::Rest).below(index)))
    }
}

impl<'de> SeqAccess<'de> for NodeEntries<'de> {
    type Error = Unwanted;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Unwanted> {
        match self.step() {
            Some(_) => self.next_value_seed(seed).map(Some),
            None => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for NodeEntries<'de> {
    type Error = Unwanted;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Unwanted> {
        let Some(key) = self.key() else { return Ok(None) };
        match seed.deserialize(key) {
            Ok(value) => Ok(Some(value)),
            Err(refused) => Err(refused.at_key(self.next - 1)),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unwanted> {
        match seed.deserialize(self.value()) {
            Ok(value) => Ok(value),
            Err(refused) => Err(refused.below(self.next - 1)),
        }
    }
}

/// A choice, then what it holds.
struct VariantNode<'de> {
    of: TreeReader<'de>,
    /// The value that it holds, with its index where that is a step.
    held: Option<(TreeReader<'de>, Option<usize>)>,
}

impl<'de> VariantNode<'de> {
    /// Returns the name of the choice.
    fn name(&self) -> &'de str {
        let node = self.of.node;
        let key = || live(node.entries()).next().and_then(|(_, it)| it.name());
        node.tag().or(node.as_str()).or_else(key).unwrap_or_default()
    }

    /// Returns what it holds.
    fn held(self) -> Result<(TreeReader<'de>, Option<usize>), Unwanted> {
        let name = self.name();
        self.held.ok_or_else(|| Unwanted::new(Why::Bare(name.to_owned())))
    }
}

impl<'de> EnumAccess<'de> for VariantNode<'de> {
    type Error = Unwanted;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Unwanted> {
        let name: StrDeserializer<'_, Unwanted> = self.name().into_deserializer();
        match (seed.deserialize(name), &self.held) {
            (Ok(variant), _) => Ok((variant, self)),
            (Err(refused), Some((_, Some(index)))) => Err(refused.at_key(*index)),
            (Err(refused), _) => Err(refused),
        }
    }
}

impl<'de> VariantAccess<'de> for VariantNode<'de> {
    type Error = Unwanted;

    fn unit_variant(self) -> Result<(), Unwanted> {
        match self.held {
            Some((held, Some(_))) if held.node.entries().is_empty() && !held.node.is_leaf() => Ok(()),
            Some((_, index)) => Err(Unwanted::new(Why::Full(self.name().to_owned())).within(index)),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Unwanted> {
        let (held, index) = self.held()?;
        match seed.deserialize(held) {
            Ok(value) => Ok(value),
            Err(refused) => Err(held.alone_refused(refused).within(index)),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Unwanted> {
        let (held, index) = self.held()?;
        held.deserialize_tuple(length, visitor).map_err(|it| it.within(index))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: KnownNames, visitor: V) -> Result<V::Value, Unwanted> {
        let (held, index) = self.held()?;
        held.deserialize_struct("", fields, visitor).map_err(|it| it.within(index))
    }
}
