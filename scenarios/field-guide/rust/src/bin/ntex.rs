//! ntex, which handles SIGTERM by itself.

use ntex::time::{Seconds, sleep};
use ntex::web;

#[web::get("/hello")]
async fn hello() -> &'static str {
    "Hello, world!"
}

#[web::get("/slow")]
async fn slow() -> &'static str {
    sleep(Seconds(1)).await;
    "Hello, world!"
}

#[ntex::main]
async fn main() -> std::io::Result<()> {
    let server = web::server(async || web::App::new().service((hello, slow)));
    server.bind(field_guide::address())?.run().await
}
