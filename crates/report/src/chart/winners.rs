//! Which policy is the cheapest under each price list: a square for each list, a row for each provider.

use super::prelude::*;

/// How far squares stand apart, and how large they are.
const PITCH: f64 = 19.0;
const SQUARE: f64 = 15.0;

/// The cheapest policy under each price list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Winners {
    pub subject: String,
    /// The policies, each with the number of lists under which it is the cheapest.
    pub policies: Vec<(PolicyLabel, usize)>,
    pub lists: Vec<WonPriceList>,
}

/// A price list, and who is the cheapest under it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WonPriceList {
    /// Its name, which begins with its provider.
    pub name: String,
    pub policy: PolicyLabel,
    /// The change of its cost against the first policy's; none for that one.
    pub change: Option<f64>,
}

impl Winners {
    /// Returns the lists by provider, the one with most lists first.
    fn price_lists_by_provider(&self) -> Vec<(&str, Vec<&WonPriceList>)> {
        let mut all: IndexMap<&str, Vec<&WonPriceList>> = IndexMap::new();
        for list in &self.lists {
            let provider = list.name.split_once('/').map_or(list.name.as_str(), |it| it.0);
            all.entry(provider).or_default().push(list);
        }
        for lists in all.values_mut() {
            lists.sort_by_key(|it| it.policy.nth);
        }
        all.sort_by(|_, one, _, other| other.len().cmp(&one.len()));
        all.into_iter().listed()
    }
}

impl Picture for Winners {
    fn title_and_subject(&self) -> [String; 2] {
        ["The cheapest policy under each price list".to_owned(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let n = self.lists.len();
        let won = self.policies.iter().filter(|it| it.1 > 0);
        let said = won.map(|(policy, n)| format!("{} under {n}", policy.label));
        format!("Of {n} price lists: {}.", said.listed().join(", "))
    }

    fn numbers_grid(&self) -> Grid {
        let row = |it: &WonPriceList| [it.name.clone(), it.policy.label.clone(), or_none(it.change, signed)];
        Grid::new("", 2, &["price list", "cheapest", "Δ cost"], self.lists.iter().map(row))
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let won = self.policies.iter().filter(|it| it.1 > 0);
        let colour = |policy: &PolicyLabel| Swatch::Colour(ink::policy_ink(policy.nth));
        let entries = won.map(|(policy, n)| (colour(policy), format!("{} ({n})", policy.label)));
        let top = legend::draw_legend(&mut scene, entries) + 8.0;
        let providers = self.price_lists_by_provider();
        let widest = providers.iter().map(|it| text_width(it.0)).fold(0.0, f64::max);
        let left = widest.min(WIDTH / 3.0) + 10.0;
        let in_row = ((WIDTH - left) / PITCH).floor().max(1.0) as usize;
        let names = shorten_names(&providers.iter().map(|it| it.0.to_owned()).listed(), left - 8.0);
        let mut y = top;
        for ((_, lists), provider) in providers.into_iter().zip(names) {
            let name = SceneText::new(left - 8.0, y + 12.0, provider);
            scene.add(name.with_anchor(Anchor::End).faint());
            for (nth, list) in lists.iter().enumerate() {
                let x = left + PITCH * (nth % in_row) as f64;
                let y = y + PITCH * (nth / in_row) as f64;
                let change = list.change.map_or(NONE.to_owned(), signed);
                let label = format!("{}: {} ({change})", list.name, list.policy.label);
                let square = box_path([x, y], [x + SQUARE, y + SQUARE]);
                let mark = SvgPath::filled(square, ink::policy_ink(list.policy.nth));
                scene.add_spot_with_tip(label, false, vec![mark.into()]);
            }
            y += PITCH * lists.len().div_ceil(in_row) as f64 + 3.0;
        }
        scene.height = y + LINE;
        scene
    }
}
