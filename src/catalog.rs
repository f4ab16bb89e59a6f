//! Inputs by name, with those that ship: this package owns their files, and hands them down as one value.

pub use ctxsim_app::catalog::*;

/// The files that ship.
#[cfg(feature = "bundled")]
pub const BUNDLE: Bundle = Bundle::new(include!(concat!(env!("OUT_DIR"), "/bundled.rs")));

/// Without the feature `bundled` there are none.
#[cfg(not(feature = "bundled"))]
pub const BUNDLE: Bundle = Bundle::new(&[]);

/// Returns the inputs that ship.
#[must_use]
pub fn bundled_catalog() -> Catalog {
    Catalog::from_bundle(BUNDLE)
}
