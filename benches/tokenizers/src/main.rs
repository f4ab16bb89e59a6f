//! How many tokens published vocabularies count where a Claude bill counted its own: the source of `assumptions/tokenizers.toml`.
//!
//! Usage: `cargo run --release -- FOLDER…` with folders of Claude Code sessions. Between two billed requests of one session a prompt
//! grows by the reply and by what the tools returned. The reply's tokens are billed; the rest is that of the results, whose texts
//! the log has. Printed are, for each vocabulary, billed tokens and counted tokens of the same texts, their ratio over all sessions,
//! over either half of them, and a 95% interval by drawing sessions anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use gemini_tokenizer::LocalTokenizer;
use serde_json::Value;

/// Steps with fewer characters of results are left out: what a message carries beside its text would weigh too much.
const CHARS_MIN: usize = 400;
const DRAWS: usize = 2_000;
const VOCABULARIES: [&str; 9] =
    ["o200k_base", "cl100k_base", "deepseek_v3", "qwen2", "llama3", "mistral_v3", "kimi_k2", "glm4", "minimax_m2"];
/// The last one, which another library has.
const GEMINI: &str = "gemini";

/// What a session's results came to: as billed, and by vocabulary.
struct Session {
    name: String,
    model: String,
    steps: usize,
    chars: f64,
    billed: f64,
    counted: Vec<f64>,
}

/// One billed request, and the texts of the results that follow it.
#[derive(Default)]
struct Request {
    prompt: i64,
    output: i64,
    results: Vec<String>,
    /// Whether anything but results of tools follows it, or thinking was in it, which may leave the prompt.
    is_mixed: bool,
}

fn main() {
    let mut files = Vec::new();
    for folder in env::args().skip(1) {
        collect(Path::new(&folder), &mut files);
    }
    files.sort();
    let sessions: Vec<Session> = files.iter().filter_map(|it| session(it)).collect();
    for it in &sessions {
        println!("{:40} {:32} {:4} steps {:8} tokens, o200k x {:.3}", it.name, it.model, it.steps, it.billed, it.billed / it.counted[0]);
    }
    let mut by_model: BTreeMap<&str, Vec<&Session>> = BTreeMap::new();
    for it in &sessions {
        by_model.entry(&it.model).or_default().push(it);
    }
    report("all", &sessions.iter().collect::<Vec<_>>());
    for (model, of) in &by_model {
        report(model, of);
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            collect(&entry.path(), files);
        }
    } else if path.extension().is_some_and(|it| it == "jsonl") {
        files.push(path.to_owned());
    }
}

fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts.iter().map(|it| it["text"].as_str()).collect::<Option<Vec<_>>>().map(|it| it.concat()),
        _ => None,
    }
}

fn session(path: &Path) -> Option<Session> {
    let text = fs::read_to_string(path).ok()?;
    let mut requests: Vec<Request> = Vec::new();
    let mut last = String::new();
    let mut model = String::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        if line["isSidechain"].as_bool() == Some(true) {
            continue;
        }
        let message = &line["message"];
        match line["type"].as_str() {
            Some("assistant") => {
                let id = message["id"].as_str().unwrap_or_default().to_owned();
                let usage = &message["usage"];
                let of = |key: &str| usage[key].as_i64().unwrap_or(0);
                let prompt = of("input_tokens") + of("cache_read_input_tokens") + of("cache_creation_input_tokens");
                if prompt == 0 {
                    continue;
                }
                if id != last {
                    requests.push(Request { prompt, ..Request::default() });
                    last = id;
                    model = message["model"].as_str().unwrap_or_default().to_owned();
                }
                let request = requests.last_mut()?;
                request.output = of("output_tokens");
                let parts = message["content"].as_array().into_iter().flatten();
                request.is_mixed |= parts.into_iter().any(|it| it["type"].as_str().is_some_and(|it| it.contains("thinking")));
            }
            Some("user") => {
                let Some(request) = requests.last_mut() else { continue };
                let Some(parts) = message["content"].as_array() else {
                    request.is_mixed = true;
                    continue;
                };
                for part in parts {
                    match (part["type"].as_str(), text_of(&part["content"])) {
                        (Some("tool_result"), Some(text)) => request.results.push(text),
                        _ => request.is_mixed = true,
                    }
                }
            }
            // What the harness adds by itself is not always in the log as it was sent.
            Some("attachment" | "system") => {
                if let Some(it) = requests.last_mut() { it.is_mixed = true }
            }
            _ => {}
        }
    }
    let gemini = LocalTokenizer::new("gemini-2.5-pro").expect("built in");
    let vocabularies: Vec<_> = VOCABULARIES.iter().map(|it| tiktoken::get_encoding(it).expect("built in")).collect();
    let mut sum = Session {
        name: path.file_stem()?.to_string_lossy().into_owned(), model, steps: 0, chars: 0.0, billed: 0.0, counted: vec![0.0; VOCABULARIES.len() + 1],
    };
    for pair in requests.windows(2) {
        let grown = pair[1].prompt - pair[0].prompt - pair[0].output;
        let chars: usize = pair[0].results.iter().map(String::len).sum();
        // A prompt that shrank was compacted or cleared.
        if pair[0].is_mixed || chars < CHARS_MIN || grown <= 0 {
            continue;
        }
        sum.steps += 1;
        sum.chars += chars as f64;
        sum.billed += grown as f64;
        for (at, vocabulary) in vocabularies.iter().enumerate() {
            sum.counted[at] += pair[0].results.iter().map(|it| vocabulary.count(it)).sum::<usize>() as f64;
        }
        let own = |it: &String| gemini.count_tokens(it.as_str(), None).total_tokens as f64;
        sum.counted[VOCABULARIES.len()] += pair[0].results.iter().map(own).sum::<f64>();
    }
    (sum.steps >= 5).then_some(sum)
}

/// Returns the tokens of one count for each of the first vocabulary's.
fn ratio(of: &[&Session], count: fn(&Session, usize) -> f64, at: usize) -> f64 {
    of.iter().map(|it| count(it, at)).sum::<f64>() / of.iter().map(|it| it.counted[0]).sum::<f64>()
}

/// Prints ratios over all of some sessions, over either half, and their intervals.
fn report(name: &str, of: &[&Session]) {
    let billed: f64 = of.iter().map(|it| it.billed).sum();
    let steps: usize = of.iter().map(|it| it.steps).sum();
    println!("\n{name}: {} sessions, {steps} steps, {billed} billed tokens", of.len());
    line("as billed", of, |it, _| it.billed, 0);
    for (at, vocabulary) in VOCABULARIES.iter().chain([&GEMINI]).enumerate().skip(1) {
        line(vocabulary, of, |it, at| it.counted[at], at);
    }
}

fn line(name: &str, of: &[&Session], count: fn(&Session, usize) -> f64, at: usize) {
    let half = |from| of.iter().skip(from).step_by(2).copied().collect::<Vec<&Session>>();
    let mut state = 1_u64;
    let mut pick = |_: &&Session| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        of[(state >> 33) as usize % of.len()]
    };
    let mut draws: Vec<f64> =
        (0..DRAWS).map(|_| ratio(&of.iter().map(&mut pick).collect::<Vec<_>>(), count, at)).collect();
    draws.sort_by(f64::total_cmp);
    let [low, high] = [0.025, 0.975].map(|it| draws[(it * DRAWS as f64) as usize]);
    let [all, even, odd] = [of.to_vec(), half(0), half(1)].map(|it| ratio(&it, count, at));
    println!("  {name:12} {all:.3} [{low:.3}, {high:.3}]; halves {even:.3}, {odd:.3}");
}
