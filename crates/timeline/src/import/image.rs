//! Images in recordings: what stands for the content of each, and its size where the first bytes tell it.

use base64::Engine as _;
use base64::engine::GeneralPurposeConfig;
use base64::engine::general_purpose::GeneralPurpose;
use ctxsim_base::grid::numbers::counted;
use ctxsim_input::profile::{ImageRule, ImageSize, UnknownImage};
use serde::de::{Deserialize, DeserializeSeed, Deserializer};

use super::content::MeasuringVisitor;
use super::sizes::SizeAssumptions;
use crate::import::prelude::*;

/// What a document counts as, in characters; its encoding says nothing about its tokens.
const DOCUMENT_CHARACTERS: u64 = 6_000;

/// How much of an image is decoded to find its size: a camera's own notes stand in front of it.
const HEAD_CHARACTERS: usize = 1 << 18;

/// How the four formats begin that models take, in base64.
const BEGINNINGS: [&str; 4] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];

/// An image as a log has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedImage {
    /// Stands for its content.
    pub(super) digest: u64,
    /// Its size in pixels, if its log tells it.
    pub(super) size: Option<ImageSize>,
}

/// A picture or a document in a log, wherever its bytes are: in a text, or in a member of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoggedFile {
    pub(super) measured: Measured,
    size: Option<ImageSize>,
}

impl LoggedFile {
    /// Returns it as content of a message: an image stands by itself, a document is as long as all are.
    pub(super) fn content(self, is_image: bool) -> Content {
        let digest = self.measured.digest;
        if is_image || self.size.is_some() {
            return Content::image(LoggedImage { digest, size: self.size });
        }
        Measured { characters: DOCUMENT_CHARACTERS, digest }.into()
    }
}

/// Returns the size of an image whose bytes are written in base64, be it in the address of its data or by themselves.
pub(super) fn size_of(text: &str) -> Option<ImageSize> {
    let data = match text.strip_prefix("data:image/") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    BEGINNINGS.iter().find(|it| data.starts_with(**it))?;
    let head: Vec<u8> =
        data.bytes().filter(|it| !it.is_ascii_whitespace() && *it != b'=').take(HEAD_CHARACTERS).collect();
    // What is left of a group of four that is cut says nothing more.
    let head = &head[..head.len() - head.len() % 4];
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(head).ok()?;
    let size = imagesize::blob_size(&bytes).ok()?;
    Some(ImageSize { width: size.width.try_into().ok()?, height: size.height.try_into().ok()? })
}

impl<'de> Deserialize<'de> for LoggedFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content = MeasuringVisitor::<false, true>.deserialize(deserializer)?;
        Ok(Self { measured: content.measured, size: content.images.first().and_then(|image| image.size) })
    }
}

impl Part {
    /// Returns an image as a part, of the result of a tool if one is named.
    fn image(image: LoggedImage, tool: &str) -> Self {
        let part = Self::new(Kind::Image, 0, image.digest);
        Self { tool: tool.to_owned(), images: vec![image], ..part }
    }

    /// Takes its images out, each as a part of its own behind it; nothing is left of a message that has no text.
    pub(super) fn apart(mut self) -> (Option<Self>, Vec<Self>) {
        let images = std::mem::take(&mut self.images);
        let own: Vec<Self> = images.into_iter().map(|it| Self::image(it, &self.tool)).collect();
        let is_empty = self.characters == 0 && self.text.is_none() && self.kind != Kind::ToolResult;
        let stays = own.is_empty() || !is_empty;
        let own = own.into_iter().map(|it| Self { stands_in: self.stands_in, ..it }).collect();
        (stays.then_some(self), own)
    }

    /// Counts its images as if they were text, which no provider lets a model write.
    pub(super) fn count_images_as_text(&mut self) {
        self.characters += DOCUMENT_CHARACTERS * std::mem::take(&mut self.images).len() as u64;
    }
}

impl Transcript {
    /// Counts images by the rule of the model that was sent them first, and as so many characters as stand for their tokens beside them.
    pub(super) fn count_images(&mut self, counting: &SizeAssumptions) {
        let models: Vec<String> = self.exchanges.iter().map(|it| it.model.clone()).collect();
        let count = |part: &mut Part, model: &str, chars_per_token: Decimal| {
            let Some(image) = part.images.first().filter(|_| part.kind == Kind::Image) else { return };
            let tokens = Tokens::from(ImageRule::of_model(model).tokens(image.size));
            part.characters = (tokens as f64 * chars_per_token.to_f64()).round() as u64;
            part.tokens = Some(tokens);
        };
        for (nth, exchange) in self.exchanges.iter_mut().enumerate() {
            exchange
                .begins
                .iter_mut()
                .flatten()
                .for_each(|it| count(it, &models[nth], counting.user_chars_per_token));
            let next = models.get(nth + 1).unwrap_or(&models[nth]);
            exchange.results.iter_mut().for_each(|it| count(it, next, counting.chars_per_token));
        }
    }

    /// Says of how many images the log does not tell the size, and what they count as.
    pub(super) fn image_sentence(&self) -> Option<String> {
        let parts = self.exchanges.iter().flat_map(|it| it.user().iter().chain(&it.results));
        let images = parts.filter(|it| it.kind == Kind::Image).filter_map(|it| it.images.first());
        let n = images.filter(|it| it.size.is_none()).count();
        let UnknownImage { value, low, high } = UnknownImage::declared();
        let size = |it: ImageSize| format!("{} × {}", it.width, it.height);
        (n > 0).then(|| {
            format!(
                "The log does not tell the size of {}, which {} as {} pixels (from {} to {}).",
                counted(n, "image"),
                if n == 1 { "counts" } else { "count" },
                size(value),
                size(low),
                size(high),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: &[u8]) -> Option<[u32; 2]> {
        use base64::Engine as _;
        size_of(&base64::engine::general_purpose::STANDARD.encode(bytes)).map(|it| [it.width, it.height])
    }

    #[test]
    fn the_four_formats_tell_their_size_in_their_first_bytes() {
        let png =
            [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &640_u32.to_be_bytes(), &480_u32.to_be_bytes(), &[8; 5]]
                .concat();
        let gif = [&b"GIF89a"[..], &320_u16.to_le_bytes(), &200_u16.to_le_bytes(), &[0; 3]].concat();
        let notes = [&[0xff, 0xe1][..], &2_002_u16.to_be_bytes(), &[7; 2_000]].concat();
        let frame = [0xff, 0xc0, 0, 17, 8, 0, 100, 1, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
        let jpeg = [&[0xff, 0xd8][..], &notes, &frame].concat();
        let webp =
            [&b"RIFF\x40\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"[..], &[99, 0, 0, 49, 0, 0], &[0; 32]].concat();

        assert_eq!(size(&png), Some([640, 480]));
        assert_eq!(size(&gif), Some([320, 200]));
        assert_eq!(size(&jpeg), Some([256, 100]), "behind a camera's notes");
        assert_eq!(size(&webp), Some([100, 50]));
        assert_eq!(size(b"\x89PNG\r\n\x1a\n"), None, "cut off");
        assert_eq!(size_of("https://example.com/a.png"), None);
        assert_eq!(size_of("data:image/png;base64,%%%"), None);
    }
}
