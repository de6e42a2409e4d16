//! Rows of a CSV or JSON lines file, whose values requests take in turn.

use std::path::Path;

use serde_json::Value;

/// The rows of a file: names of columns, and as many values in each row.
#[derive(Debug, PartialEq, Eq)]
pub struct Rows {
    columns: Vec<String>,
    /// Row by row.
    cells: Vec<Box<[u8]>>,
}

impl Rows {
    /// Reads a file: `.csv` with a line of names, or `.jsonl` with an object a line.
    ///
    /// # Errors
    /// A sentence that names the file, and the line if one is wrong.
    pub fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read(path).map_err(|error| format!("rows {path}: {error}"))?;
        Self::parse(path, &text)
    }

    /// Parses what a file of this name holds.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(path: &str, text: &[u8]) -> Result<Self, String> {
        // Windows' editors begin a file with a byte order mark.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        match Path::new(path).extension().and_then(|end| end.to_str()) {
            Some("csv") => Self::parse_csv(text),
            Some("jsonl" | "ndjson") => Self::parse_json_lines(text),
            _ => Err("the name must end with .csv, .jsonl or .ndjson".to_owned()),
        }
        .map_err(|why| format!("rows {path}: {why}"))
    }

    /// Parses CSV (RFC 4180) with a first line of names.
    ///
    /// # Errors
    /// A sentence with the line.
    pub fn parse_csv(text: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(text);
        let names = reader.headers().map_err(|error| error.to_string())?;
        let columns: Vec<String> = names.iter().map(str::to_owned).collect();
        let mut cells = Vec::new();
        for record in reader.byte_records() {
            let record = record.map_err(|error| error.to_string())?;
            cells.extend(record.iter().map(Box::from));
        }
        Self::of(columns, cells)
    }

    /// Parses JSON lines; the first object's names are the columns.
    ///
    /// # Errors
    /// A sentence with the line.
    pub fn parse_json_lines(text: &[u8]) -> Result<Self, String> {
        let mut columns: Vec<String> = Vec::new();
        let mut cells = Vec::new();
        for (line, text) in text.split(|byte| *byte == b'\n').enumerate() {
            if text.trim_ascii().is_empty() {
                continue;
            }
            let bad = |why: String| format!("line {}: {why}", line + 1);
            let value: Value =
                serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?;
            let object = value
                .as_object()
                .ok_or_else(|| bad("it is not an object".to_owned()))?;
            if columns.is_empty() {
                columns = object.keys().cloned().collect();
            }
            for name in &columns {
                let value = object
                    .get(name)
                    .ok_or_else(|| bad(format!("there is no {name:?}")))?;
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                cells.push(text.into_bytes().into());
            }
        }
        Self::of(columns, cells)
    }

    fn of(columns: Vec<String>, cells: Vec<Box<[u8]>>) -> Result<Self, String> {
        if cells.is_empty() {
            return Err("there is no row".to_owned());
        }
        Ok(Self { columns, cells })
    }

    /// The names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The place of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// A value of the row of a counter: rows come in turn, and again from the first.
    #[must_use]
    pub fn cell(&self, counter: u64, column: usize) -> &[u8] {
        let rows = (self.cells.len() / self.columns.len()) as u64;
        &self.cells[(counter % rows) as usize * self.columns.len() + column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_turn() {
        let rows = Rows::parse_csv(b"name,note\nann,\"a, b\"\nbob,\"say \"\"c\"\"\"\n").unwrap();
        let note = rows.column("note").unwrap();
        assert_eq!(rows.cell(0, note), b"a, b");
        assert_eq!(rows.cell(1, note), b"say \"c\"");
        assert_eq!(rows.cell(2, 0), b"ann");
        assert_eq!(rows.column("other"), None);
    }

    #[test]
    fn json_lines_are_rows() {
        let rows =
            Rows::parse_json_lines(b"{\"a\":\"x\",\"b\":1}\n\n{\"b\":[2],\"a\":null}\n").unwrap();
        let (a, b) = (rows.column("a").unwrap(), rows.column("b").unwrap());
        assert_eq!((rows.cell(0, a), rows.cell(0, b)), (&b"x"[..], &b"1"[..]));
        assert_eq!(
            (rows.cell(1, a), rows.cell(1, b)),
            (&b"null"[..], &b"[2]"[..])
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_name() {
        for (path, text) in [
            ("x.jsonl", "\u{feff}{\"a\":1}\n"),
            ("x.csv", "\u{feff}a\r\n1\r\n"),
        ] {
            let rows = Rows::parse(path, text.as_bytes()).unwrap();
            assert_eq!(rows.columns(), ["a"]);
            assert_eq!(rows.cell(0, 0), b"1");
        }
    }

    #[test]
    fn a_file_that_holds_no_rows_says_why() {
        assert!(Rows::parse_csv(b"a,b\n").unwrap_err().contains("no row"));
        assert!(Rows::parse_csv(b"a,b\n1\n").unwrap_err().contains("line"));
        let missing = Rows::parse_json_lines(b"{\"a\":1}\n{\"b\":1}\n").unwrap_err();
        assert!(
            missing.contains("line 2") && missing.contains("\"a\""),
            "{missing}"
        );
        assert!(
            Rows::parse_json_lines(b"[1]\n")
                .unwrap_err()
                .contains("not an object")
        );
        assert!(
            Rows::read("/nowhere.csv")
                .unwrap_err()
                .contains("/nowhere.csv")
        );
    }
}
