//! The library as its users see it, in one binary.

mod blocks;
mod cli;
mod import;
mod inputs;
mod price;
mod pricelist;
mod profiles;
mod report;
mod set;
