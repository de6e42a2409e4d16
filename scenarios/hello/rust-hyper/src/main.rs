//! `GET /hello` on hyper: one current-thread tokio runtime a worker, each with its own listening
//! socket, request, idle and write timeouts on.

mod config;
mod listener;
mod service;
mod timed_stream;
mod worker;

use std::process::ExitCode;

use tokio::sync::watch;

use config::Config;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hello: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::from_environment()?;
    listener::raise_file_limit();
    let listeners = (0..config.workers)
        .map(|_| listener::bind(config.address))
        .collect::<std::io::Result<Vec<_>>>()?;
    eprintln!("hello: listening on {}", config.address);

    let (stop, stopped) = watch::channel(false);
    std::thread::scope(|scope| {
        let mut listeners = listeners.into_iter();
        let first = listeners.next();
        for listener in listeners {
            let (config, stopped) = (&config, stopped.clone());
            scope.spawn(move || worker::run(config, listener, stopped));
        }
        // The main thread is the first worker and waits for the signal.
        first.map_or(Ok(()), |listener| {
            worker::run_until_signal(&config, listener, stop, stopped)
        })
    })?;
    Ok(())
}
