//! actix-web, which handles SIGTERM by itself.

use actix_web::{App, HttpServer, get};
use std::time::Duration;

#[get("/hello")]
async fn hello() -> &'static str {
    "Hello, world!"
}

#[get("/slow")]
async fn slow() -> &'static str {
    actix_web::rt::time::sleep(Duration::from_secs(1)).await;
    "Hello, world!"
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let server = HttpServer::new(|| App::new().service(hello).service(slow));
    server.bind(field_guide::address())?.run().await
}
