//! Which policy is the cheapest under each price list: a line for each list, in the order of the ratio that decides.

use super::prelude::*;

/// How far lines stand apart.
const PITCH: f64 = 17.0;
/// Losses beyond this are drawn at the edge, with their number: twice the cost.
const EDGE: f64 = 1.0;

/// The cheapest policy under each price list, and what one loses by staying with the policy that is cheapest under most.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Winners {
    pub subject: String,
    /// The policy that is cheapest under most lists.
    pub stays: String,
    /// The heading of the ratios.
    pub ratio: String,
    /// The policies, each with the number of lists under which it is the cheapest.
    pub policies: Vec<(PolicyLabel, usize)>,
    /// The lists, in the order of their ratios.
    pub lists: Vec<WonList>,
}

/// A price list, and who is the cheapest under it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WonList {
    pub name: String,
    pub policy: PolicyLabel,
    /// How much dearer the policy is that is cheapest under most lists; `None` where it came to no end.
    pub loss: Option<f64>,
    /// The same in words.
    pub stays: String,
    /// The ratio in words.
    pub ratio: String,
}

impl Picture for Winners {
    fn title_and_subject(&self) -> [String; 2] {
        ["The cheapest policy under each price list".to_owned(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        let won = self.policies.iter().filter(|it| it.1 > 0);
        let said = won.map(|(policy, n)| format!("{} under {n}", policy.label));
        format!("Of {} price lists: {}.", self.lists.len(), said.listed().join(", "))
    }

    fn numbers_grid(&self) -> Grid {
        let row =
            |it: &WonList| [it.name.clone(), it.ratio.clone(), it.policy.label.clone(), it.stays.clone()];
        let stays = format!("{} costs", self.stays);
        let columns = ["price list", self.ratio.as_str(), "cheapest", stays.as_str()];
        Grid::new("", 1, &columns, self.lists.iter().map(row)).with(CellKind::Name, &[2])
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let won = self.policies.iter().filter(|it| it.1 > 0);
        let entries = won.map(|(policy, n)| (Swatch::Shape(policy.nth), format!("{} ({n})", policy.label)));
        let top = legend::draw_legend(&mut scene, legend::TOP, entries) + 26.0;
        let widest = self.lists.iter().map(|it| text_width(&it.name)).fold(0.0, f64::max);
        let ratios = self.lists.iter().map(|it| text_width(&it.ratio)).fold(0.0, f64::max) + 12.0;
        let left = widest.min(WIDTH / 2.2) + ratios + 10.0;
        let names = self.lists.iter().map(|it| it.name.clone()).listed();
        let names = shorten_names(&names, left - ratios - 10.0);
        let bottom = top + PITCH * self.lists.len() as f64;
        let most = self.lists.iter().filter_map(|it| it.loss).fold(0.01, f64::max).min(EDGE);
        let across = Axis::rounded(0.0, most, [left + 6.0, WIDTH - 60.0], 4.0);
        across.draw_below_frame(&mut scene, [top, bottom], "extra cost of staying", |it| {
            signed(it).replace(".0%", "%")
        });
        let ratio =
            |y: f64, words: &str| SceneText::new(left - 4.0, y, words).with_anchor(Anchor::End).faint();
        scene.add(ratio(top - 8.0, &self.ratio));
        for ((nth, list), name) in self.lists.iter().enumerate().zip(names) {
            let y = top + PITCH * (nth as f64 + 0.5);
            scene.add(SceneText::new(0.0, y + 4.0, name));
            scene.add(ratio(y + 4.0, &list.ratio));
            let loss = list.loss.unwrap_or(0.0);
            let at = [across.position_of(loss.min(EDGE)), y];
            let stem = line_path([[across.position_of(0.0), y], at]);
            let stem = SvgPath::stroked(stem, ink::policy_ink(list.policy.nth), 2.0);
            let marks = vec![stem, legend::policy_point(list.policy.nth, at, 5.0)];
            if list.loss != Some(0.0) {
                scene.add(SceneText::new(at[0] + 9.0, y + 4.0, list.stays.clone()).faint());
            }
            let more = format!("; {}: {}", self.stays, list.stays);
            scene.add_spot_with_tip(format!("{}: {}{more}", list.name, list.policy.label), false, marks);
        }
        scene.height = bottom + 44.0;
        scene
    }
}
