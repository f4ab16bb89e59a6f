//! A chart as SVG: a line for each policy, with the bounds that hold its mean with 95% confidence.

use std::error::Error;

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::retention::Chart;
use crate::measure::Statistic;

/// Width and height of what is drawn, legend excluded, in pixels.
const SIZE: (u32, u32) = (640, 320);
/// The height of a line of the legend.
const LEGEND_LINE: i32 = 20;
/// How words are set.
const FONT: (&str, u32) = ("sans-serif", 16);
/// Colours that people with any kind of sight tell apart.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
/// Lines that are drawn in a colour for the second time, third time and so on are dashed, each time shorter.
const DASH: i32 = 12;
/// How far places stand apart; lines stand a few of these beside one another, so that their bounds are all seen.
const APART: i32 = 100;

/// Draws a chart; nothing, where there is no place.
#[must_use]
pub fn svg(chart: &Chart) -> Option<String> {
    let mut text = String::new();
    draw(chart, &mut text).ok()?;
    (!chart.places.is_empty()).then_some(text)
}

fn draw<'t>(chart: &Chart, text: &'t mut String) -> Result<(), Box<dyn Error + 't>> {
    let n_lines = i32::try_from(chart.lines.len()).unwrap_or(0);
    let legend_height = 10 + LEGEND_LINE * n_lines;
    let height = SIZE.1.saturating_add_signed(legend_height);
    let root = SVGBackend::with_string(text, (SIZE.0, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let (legend, plot) = root.split_vertically(legend_height);
    let n_places = i32::try_from(chart.places.len()).unwrap_or(0);
    let places: Vec<i32> = (0..n_places).map(|it| it * APART).collect();
    // Lines side by side stay nearer to their own place than to the next, and within the frame.
    let step = (40 / n_lines.max(1)).clamp(1, 2);
    let margin = (n_lines * step + 5).max(25);
    let last = n_places.saturating_sub(1) * APART;
    let mut context = ChartBuilder::on(&plot)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(52)
        .build_cartesian_2d((-margin..last + margin).with_key_points(places.clone()), 0.0..1.0)?;
    let name_of = |at: &i32| {
        let place = usize::try_from(at / APART).ok().and_then(|it| chart.places.get(it));
        place.cloned().unwrap_or_default()
    };
    context
        .configure_mesh()
        .disable_x_mesh()
        .label_style(FONT)
        .axis_desc_style(FONT)
        .light_line_style(TRANSPARENT)
        .x_desc(chart.axis)
        .y_desc("share of facts found (bars: 95%)")
        .x_label_formatter(&name_of)
        .y_label_formatter(&|it| format!("{it:.1}"))
        .draw()?;
    for (nth, (name, numbers)) in chart.lines.iter().enumerate() {
        let (round, colour) = (nth / COLOURS.len(), COLOURS[nth % COLOURS.len()]);
        let [nth, round] = [nth, round].map(|it| i32::try_from(it).unwrap_or(0));
        let shift = (2 * nth - n_lines + 1) * step;
        let points = places.iter().zip(numbers).filter_map(|(at, it)| Some((at + shift, (*it)?)));
        let points: Vec<(i32, Statistic)> = points.collect();
        let means = points.iter().map(|(at, it)| (*at, it.mean)).collect::<Vec<_>>();
        let bounds = points.iter().filter_map(|(at, it)| {
            let [low, high] = it.ci95?;
            Some(PathElement::new([(*at, low.max(0.0)), (*at, high.min(1.0))], colour.stroke_width(1)))
        });
        context.draw_series(bounds)?;
        context.draw_series([line(means.clone(), round, colour.stroke_width(2))])?;
        context.draw_series(means.into_iter().map(|it| Circle::new(it, 3, colour.filled())))?;
        let middle = 16 + LEGEND_LINE * nth;
        legend.draw(&line(vec![(58, middle), (84, middle)], round, colour.stroke_width(3)))?;
        legend.draw(&Text::new(name.clone(), (92, middle - 7), FONT))?;
    }
    root.present()?;
    Ok(())
}

/// Returns a line through points, dashed where its colour has been used before.
fn line<P: Clone>(
    points: Vec<P>,
    round: i32,
    style: ShapeStyle,
) -> DashedPathElement<std::vec::IntoIter<P>, i32> {
    // A dash longer than any line is no dash.
    let dash = DASH.checked_div(round).map_or(i32::MAX, |it| it.max(2));
    DashedPathElement::new(points, dash, dash.min(5), style)
}
