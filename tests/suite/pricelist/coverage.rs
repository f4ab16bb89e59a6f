//! Which ids of the field's price lists have a profile, and at whose prices.

use ctxsim::app::ListPrices;
use ctxsim::catalog::price_list_files;
use ctxsim::input::PriceSpec;
use ctxsim::input::profile::calendar;
use ctxsim::input::profile::price::{Prices, Rates};
use ctxsim::pricelist::update::{PriceUpdate, updates};
use ctxsim::pricelist::{ListContents, ListEntry, read};
use ctxsim::quantity::Rate;

use super::*;

/// The sellers that have profiles, by their names in the lists.
const SELLERS: [(&str, &[&str]); 17] = [
    ("alibaba", &["alibaba", "dashscope", "qwen", "qwen_ai_platform", "qwencloud"]),
    ("anthropic", &["anthropic", "vertex_ai-anthropic_models"]),
    ("bedrock", &["aws", "bedrock", "bedrock_converse", "bedrock_mantle"]),
    ("cerebras", &["cerebras"]),
    ("cohere", &["cohere", "cohere_chat"]),
    ("deepseek", &["deepseek"]),
    ("fireworks", &["fireworks", "fireworks_ai"]),
    ("google", &["gemini", "google", "vertex_ai-language-models"]),
    ("groq", &["groq"]),
    ("meta", &["meta", "meta-llama"]),
    ("minimax", &["minimax"]),
    ("mistral", &["mistral", "mistralai"]),
    ("moonshotai", &["moonshot", "moonshotai"]),
    ("openai", &["openai"]),
    ("together", &["together", "together_ai"]),
    ("xai", &["x-ai", "xai"]),
    ("zai", &["z-ai", "zai"]),
];

/// Parts of the names of models that do not chat in text, where a list does not say so otherwise.
const NO_CHAT: [&str; 5] = ["realtime", "image", "audio", "voxtral", "robotics"];

/// Ids of the excerpts that have no profile: another price, or a cache that is not known.
const REFUSED: [&str; 0] = [];

/// What a list has of one seller.
#[derive(Default)]
struct Covered {
    known: usize,
    at_list_price: usize,
    refused: Vec<String>,
    at_other_prices: Vec<String>,
}

impl Covered {
    fn all(&self) -> usize {
        self.known + self.refused.len()
    }
}

fn seller(provider: &str) -> Option<&'static str> {
    let resold = RESELLERS.contains(&provider).then_some("azure (without profiles of its own)");
    SELLERS.iter().find(|it| it.1.contains(&provider)).map(|it| it.0).or(resold)
}

/// Sellers of others' models, whose ids are those of the makers with something around them; they have no profiles of their own.
const RESELLERS: [&str; 2] = ["azure", "azure_ai"];

/// Counts the ids of a list that name a chat model with cache prices, by seller.
fn covered(found: &ListContents, prices: &ListPrices) -> BTreeMap<&'static str, Covered> {
    let mut by_seller: BTreeMap<&str, Covered> = BTreeMap::new();
    for entry in &found.entries {
        let is_cached = entry.prices.iter().any(|it| it.cache_read.is_some() && it.output.is_some());
        let is_chat = !NO_CHAT.iter().any(|it| entry.model.contains(it));
        let Some(seller) = seller(&entry.provider).filter(|_| is_cached && is_chat) else { continue };
        let covered = by_seller.entry(seller).or_default();
        let id = format!("{}/{}", entry.provider, entry.model);
        let Some(profile) = prices.profile_of(&id) else {
            covered.refused.push(id);
            continue;
        };
        covered.known += 1;
        if is_at_price(entry, profile) {
            covered.at_list_price += 1;
        } else {
            covered.at_other_prices.push(format!("{id} ({})", profile.name));
        }
    }
    by_seller
}

/// Returns whether any of the prices of an entry is one that the profile has at some time.
fn is_at_price(entry: &ListEntry, profile: &Profile) -> bool {
    let rate = |it: Option<_>| it.and_then(Rate::from_usd_per_million);
    let is_same = |rates: &Rates, spec: &PriceSpec| {
        Some(rates.input) == rate(Some(spec.input))
            && rates.output == rate(spec.output)
            && Some(rates.read()) == rate(spec.cache_read)
    };
    entry.prices.iter().any(|spec| every(&profile.prices).iter().any(|rates| is_same(rates, spec)))
}

/// Returns every set of rates for short prompts that holds at some hour from the middle of 2024 to that of 2027.
fn every(prices: &Prices) -> Vec<Rates> {
    const START_MS: i64 = 1_719_792_000_000;
    let hours = (0..3 * 365 * 24).step_by(11).map(|hour| prices.on(START_MS + hour * 3_600_000).base);
    hours.fold(Vec::new(), |mut all, it| {
        if !all.contains(&it) {
            all.push(it);
        }
        all
    })
}

fn table(lists: &[ListContents]) -> (String, Vec<(usize, usize)>) {
    let prices = ListPrices::read(&bundled_catalog());
    let mut text = String::new();
    let mut sums = Vec::new();
    for found in lists {
        let covered = covered(found, &prices);
        let own = covered.iter().filter(|it| SELLERS.iter().any(|seller| seller.0 == *it.0));
        let (known, all) = own.fold((0, 0), |sum, it| (sum.0 + it.1.known, sum.1 + it.1.all()));
        sums.push((known, all));
        let _ = writeln!(text, "{}: {known} of {all} ids are known", found.list);
        for (seller, it) in &covered {
            let (known, all, same) = (it.known, it.all(), it.at_list_price);
            let _ = writeln!(text, "  {seller}: {known} of {all}, {same} at the list's price");
            for it in &it.refused {
                let _ = writeln!(text, "    refused: {it}");
            }
            for it in &it.at_other_prices {
                let _ = writeln!(text, "    other price: {it}");
            }
        }
    }
    (text, sums)
}

fn lists_below(root: &Path) -> Vec<ListContents> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let lists = ["litellm", "models.dev"];
    for path in lists.map(|it| root.join(it)).into_iter().filter(|it| it.exists()) {
        paths.extend(if path.is_dir() { price_list_files(&path).unwrap() } else { vec![path] });
    }
    read(&paths.iter().map(|it| file(it)).collect::<Vec<_>>()).unwrap()
}

#[test]
fn of_the_ids_that_the_lists_have_of_sellers_with_profiles_19_in_20_are_known() {
    let Some(root) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let (text, sums) = table(&lists_below(&root.join("prices")));
    println!("{text}");
    let (known, all) = sums.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    assert!(known * 20 >= all * 19, "{known} of {all}");
}

#[test]
fn of_the_ids_of_the_excerpts_that_ship_all_but_the_listed_are_known() {
    let (text, _) = table(&lists_below(&super::folder()));
    let refused: Vec<&str> = text.lines().filter_map(|it| it.trim().strip_prefix("refused: ")).collect();
    assert_eq!(refused, REFUSED, "{text}");
}

#[test]
fn a_list_that_is_newer_changes_a_price_from_its_day_on_and_nothing_else() {
    let prices = ListPrices::read(&bundled_catalog());
    let text = r#"{"mistral/mistral-large-4": {"litellm_provider": "mistral", "mode": "chat", "input_cost_per_token": 5e-7,
        "output_cost_per_token": 2.1e-6, "cache_read_input_token_cost": 5e-8},
        "claude-opus-9-20270105": {"litellm_provider": "anthropic", "mode": "chat", "input_cost_per_token": 4e-6,
        "output_cost_per_token": 2e-5, "cache_read_input_token_cost": 4e-7, "max_input_tokens": 1000000},
        "nobody/claude-opus-9": {"litellm_provider": "nobody", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6}}"#;
    let newer = super::list("new.json", text);
    let vendors = ["anthropic", "mistral"].map(str::to_owned).into();
    let profile_of = |id: &str| prices.profile_file_of(id).cloned();

    let found = updates(
        std::slice::from_ref(&newer),
        "2026-12-01",
        &vendors,
        &|id| prices.profile_of(id).is_some(),
        &profile_of,
    );
    let (n_known, changed) = (found.n_known, found.changed);
    assert_eq!((n_known, changed.len()), (1, 1));
    // A model of a known vendor has a draft, which covers its builds and nothing newer.
    let new: Vec<&Profile> = found.new.iter().map(|it| &it.profile).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    assert_eq!(
        ["claude-opus-9-20270301", "claude-opus-9-1"].map(|id| new[0].covers(id).is_some()),
        [true, false]
    );
    let shown = |it: &PriceUpdate| -> Vec<String> {
        let price = |(field, old, new): &(String, Option<Decimal>, Decimal)| {
            format!("{field} {} {new}", old.unwrap())
        };
        it.changes.iter().map(price).collect()
    };
    assert_eq!(shown(&changed[0]), ["input 0.7 0.5", "cache_read 0.07 0.05"]);
    let spec: ProfileFile = decode(changed[0].text.as_ref().unwrap(), Format::Toml).unwrap();
    let profile = Profile::new(&spec).unwrap();
    let input = |day: &str| profile.prices.on(calendar::parse_day(day).unwrap()).base.input.0;
    assert_eq!(["2026-10-28", "2026-11-30", "2026-12-01"].map(input), [1_360_000, 700_000, 500_000]);
    assert_eq!(profile.prices.usual().output.unwrap().0, 2_100_000);
}
