//! The file formats: serde mirrors of the text, with no rules of their own.

pub mod decode;
pub mod merge;
pub mod place;
pub mod layout;
pub mod policy;
pub mod profile;
pub mod scenario;
pub mod set;
pub mod size;
pub mod suite;

pub use decode::Format;
pub use policy::PolicySpec;
pub use profile::ProfileSpec;
pub use scenario::ScenarioSpec;
pub use suite::SuiteSpec;
