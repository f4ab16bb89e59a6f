//! Exact amounts of money.

use std::fmt;
use std::str::FromStr;

use crate::face::Error;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::quantity::Decimal;

/// An amount of US dollars, stored as a decimal: `0.1` is exactly one tenth, not the nearest float. Never negative; at most 18 digits.
///
/// Numbers and text convert to it; a value that is not a valid amount is reported when the profile is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Usd(Result<Decimal, String>);

impl Usd {
    /// Returns the decimal, or the invalid input.
    pub(super) fn decimal(&self, field: &str) -> Result<Decimal, Box<Diagnostic>> {
        let wrong = |given: &String| {
            let message = format!("`{given}` is not an amount of US dollars");
            let problem = Diagnostic::at(Code("price-invalid"), field, message);
            Box::new(problem.help("use a non-negative number with at most 18 digits"))
        };
        self.0.as_ref().copied().map_err(wrong)
    }
}

impl From<f64> for Usd {
    fn from(value: f64) -> Self {
        Self(Decimal::from_f64(value).ok_or_else(|| value.to_string()))
    }
}

impl From<u32> for Usd {
    fn from(value: u32) -> Self {
        value.to_string().as_str().into()
    }
}

impl From<&str> for Usd {
    fn from(text: &str) -> Self {
        Self(Decimal::parse(text).ok_or_else(|| text.to_owned()))
    }
}

impl FromStr for Usd {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let usd = Self::from(text);
        usd.decimal("").map_err(Error::from)?;
        Ok(usd)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(amount) => amount.fmt(to),
            Err(given) => to.write_str(given),
        }
    }
}
