//! A user as a client sends it, and as the database holds it.

use serde::{Deserialize, Serialize};

const MAX_AGE: u8 = 150;

/// A user from a request's body. Valid once it has come through [`NewUser::read`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    pub name: String,
    pub email: String,
    pub age: u8,
}

/// A row of the table, its fields in the answer's order.
#[derive(Serialize)]
pub struct UserRow<'a> {
    pub id: i32,
    pub name: &'a str,
    pub email: &'a str,
    pub age: i32,
}

impl NewUser {
    /// The user in a body; `None` if it is no JSON object with just these fields and allowed values.
    pub fn read(body: &[u8]) -> Option<Self> {
        // serde also reads a struct from an array.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let user: Self = serde_json::from_slice(body).ok()?;
        // PostgreSQL's text cannot hold NUL.
        let storable = |text: &str| !text.contains('\0');
        (user.age <= MAX_AGE && storable(&user.name) && storable(&user.email)).then_some(user)
    }
}

impl UserRow<'_> {
    pub fn to_json(&self) -> Vec<u8> {
        // Strings and numbers always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
