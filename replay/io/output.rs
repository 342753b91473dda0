//! Files that get the model, and what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use io_model::{Heat, Model, Parts, picture, script, tsv};

use super::asked::Asked;

/// What is in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The table of phases, tab separated.
    Table,
    /// All of the model, as JSON.
    Json,
    /// A script of the shell that reproduces phases with IOR.
    Script,
    /// The picture of bytes over time, as SVG.
    Picture,
}

impl Format {
    /// The option that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            Format::Picture => "--io-picture",
            Format::Table | Format::Json | Format::Script => "--io-model",
        }
    }

    /// The contents of a file.
    fn text(self, model: &Model) -> String {
        match self {
            Format::Table => tsv(model),
            Format::Json => model.to_json() + "\n",
            Format::Script => script(model),
            Format::Picture => picture(model).unwrap_or_default(),
        }
    }

    /// Whether a file is one of ours, or has nothing to lose.
    pub(crate) fn is_ours(self, path: &Path) -> bool {
        let Ok(text) = fs::read_to_string(path) else { return false };
        text.is_empty()
            || match self {
                Format::Json => Model::from_json(&text).is_ok(),
                Format::Table | Format::Picture => first_line(&text) == first_line(&self.text(&nothing())),
                Format::Script => text.starts_with(&self.text(&nothing())),
            }
    }
}

/// A file that gets the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputFile {
    /// Its path.
    pub path: PathBuf,
    /// What is in it.
    pub format: Format,
}

impl OutputFile {
    /// A file of the model, by its extension.
    ///
    /// # Errors
    /// If that is another one, in words.
    pub fn of_model(path: &str) -> Result<OutputFile, String> {
        let formats = [("tsv", Format::Table), ("json", Format::Json), ("sh", Format::Script)];
        OutputFile::by_extension(path, &formats)
            .ok_or_else(|| "expected a name that ends with .tsv, .json or .sh".to_owned())
    }

    /// A file of the picture.
    ///
    /// # Errors
    /// If it has another extension, in words.
    pub fn of_picture(path: &str) -> Result<OutputFile, String> {
        OutputFile::by_extension(path, &[("svg", Format::Picture)])
            .ok_or_else(|| "expected a name that ends with .svg".to_owned())
    }

    fn by_extension(path: &str, formats: &[(&str, Format)]) -> Option<OutputFile> {
        let path = PathBuf::from(path);
        let extension = path.extension()?.to_str()?;
        let format = formats.iter().find(|(name, _)| *name == extension)?.1;
        Some(OutputFile { path, format })
    }
}

impl Asked {
    /// Least share of the run, or of all bytes, of phases that the summary lists.
    pub(crate) fn relevance(&self) -> f64 {
        self.options.relevance
    }

    /// What is written: paths and contents.
    pub(crate) fn outputs(&self, model: &Model) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
        self.options.files.iter().map(|file| (file.path.clone(), file.format.text(model).into_bytes()))
    }
}

/// The model of a run without file I/O.
fn nothing() -> Model {
    Model::new(Parts { heat: Some(Heat::new(0, 0, 0, None)), ..Parts::default() })
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_ours_are_ours() {
        let directory = tempfile::tempdir().unwrap();
        for format in [Format::Table, Format::Json, Format::Script, Format::Picture] {
            let path = directory.path().join("file");
            let is_ours = |text: &str| {
                fs::write(&path, text).unwrap();
                format.is_ours(&path)
            };
            assert!(is_ours(&format.text(&nothing())) && is_ours(""), "{format:?}");
            for other in
                ["x", "#!/bin/sh\nrm -r /\n", "{}", "phase\n", "<svg xmlns=\"http://www.w3.org/2000/svg\">"]
            {
                assert!(!is_ours(other), "{format:?}: {other}");
            }
        }
    }

    #[test]
    fn extension_says_what_is_in_a_file() {
        assert_eq!(OutputFile::of_model("a/b.json").unwrap().format, Format::Json);
        assert_eq!(OutputFile::of_picture("b.svg").unwrap().format, Format::Picture);
        for wrong in ["a.svg", "json", ".json", "a.JSON", ""] {
            assert!(OutputFile::of_model(wrong).is_err(), "{wrong}");
        }
        assert!(OutputFile::of_picture("a.png").is_err());
    }
}
