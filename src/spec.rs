//! The file formats: serde mirrors of the text, with no rules of their own.

pub mod assume;
pub mod cache;
pub mod conversation;
pub mod decode;
mod fault;
pub mod action;
pub mod fold;
pub mod guard;
pub mod memory;
pub mod merge;
mod node;
pub mod place;
pub mod layout;
pub mod policy;
pub mod price;
pub mod profile;
pub mod refetch;
mod repair;
pub mod scenario;
#[cfg(feature = "cli")]
pub mod schema;
pub mod set;
pub mod size;
pub mod spelling;
pub mod suite;
pub mod template;

pub use decode::Format;
pub use policy::PolicySpec;
pub use price::PriceSpec;
pub use profile::ProfileSpec;
pub use scenario::ScenarioSpec;
pub use suite::SuiteSpec;
