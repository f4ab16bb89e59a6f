//! A currency that a bill is shown in, at a rate that the user gives: bills themselves stay in exact US dollars.

use ctxsim_base::grid::numbers::plain;

/// A currency and its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Currency {
    code: String,
    rate: f64,
}

impl Currency {
    /// Reads `CODE=RATE`.
    ///
    /// # Errors
    /// What to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        const FIX: &str = "write CODE=RATE, such as `EUR=0.92` where a US dollar is 0.92 euros";
        let (code, rate) = text.split_once('=').ok_or(FIX)?;
        if code.len() != 3 || !code.bytes().all(|it| it.is_ascii_uppercase()) {
            return Err(format!("{FIX}; a code is three capital letters"));
        }
        if code == "USD" {
            return Err(format!("{FIX}; without `--currency`, amounts are US dollars"));
        }
        let rate = rate.parse().ok().filter(|it: &f64| it.is_normal() && *it > 0.0 && *it < 1e9);
        let rate = rate.ok_or_else(|| format!("{FIX}; a rate is more than 0 and less than 1,000,000,000"))?;
        Ok(Self { code: code.to_owned(), rate })
    }

    /// Returns its code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns how much of it a US dollar is.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns what dollars are in it.
    pub fn of(&self, usd: f64) -> f64 {
        usd * self.rate
    }

    /// Says whose rate it is.
    pub(super) fn note(&self) -> String {
        format!(
            "Amounts are in {code}, at {rate} {code} for a US dollar: that rate is yours, and no part of the bill.",
            code = self.code,
            rate = plain(self.rate)
        )
    }
}
