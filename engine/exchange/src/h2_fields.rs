//! A request's text, in the form of HTTP/1.1, as the fields and the body of HTTP/2 (RFC 9113, section 8.3.1).

/// Puts the names of fields into lower case (RFC 9113, section 8.2.1). Gives the length of the head, without its empty line.
pub fn lower_names(text: &mut [u8]) -> usize {
    let end = head_end(text);
    for line in text[..end].split_mut(|byte| *byte == b'\n').skip(1) {
        let name = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        line[..name].make_ascii_lowercase();
    }
    end
}

/// The length of a request's head, without its empty line.
#[must_use]
pub fn head_end(text: &[u8]) -> usize {
    let end = text.windows(4).position(|four| four == b"\r\n\r\n");
    end.unwrap_or(text.len())
}

/// A request's body, behind a head of this length.
#[must_use]
pub fn body(text: &[u8], end: usize) -> &[u8] {
    text.get(end + 4..).unwrap_or_default()
}

/// The fields of a head whose names are in lower case.
#[must_use]
pub fn fields<'a>(head: &'a [u8], scheme: &'a str) -> Vec<(&'a [u8], &'a [u8])> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut line = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let method = line.next().unwrap_or_default();
    let target = line.next().unwrap_or_default();
    let mut all = vec![
        (&b":method"[..], method),
        (b":scheme", scheme.as_bytes()),
        (b":authority", b""),
        (b":path", target),
    ];
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name == b"host" {
            all[2].1 = value;
        } else {
            all.push((name, value));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let mut text =
            b"POST /a?b HTTP/1.1\r\nHost: h:1\r\nX-A: B: c\r\nContent-Length: 6\r\n\r\nA: b\r\n"
                .to_vec();
        let end = lower_names(&mut text);
        assert_eq!(body(&text, end), b"A: b\r\n");
        let fields: Vec<String> = fields(&text[..end], "http")
            .iter()
            .map(|(name, value)| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                format!("{}={}", text(name), text(value))
            })
            .collect();
        let expected = [
            ":method=POST",
            ":scheme=http",
            ":authority=h:1",
            ":path=/a?b",
            "x-a=B: c",
            "content-length=6",
        ];
        assert_eq!(fields, expected);
    }
}
