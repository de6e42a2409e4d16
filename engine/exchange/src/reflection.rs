//! The schema of a gRPC method, asked from the server itself (server reflection).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use touchstone_grpc::{Method, Reflected, Schema, VERSIONS, services};
use touchstone_sys::socket::Address;

use crate::call::code;
use crate::client::Connection;
use crate::job::{Grpc, Request};
use crate::request::{CompiledRequest, Origin};
use crate::target::Target;
use crate::template::{Key, Scope};
use crate::transport::Transport;

/// The number of the status `UNIMPLEMENTED`.
const UNIMPLEMENTED: u16 = 12;

/// Why a question had no answer.
enum Unanswered {
    /// The server does not have the method.
    Unknown,
    /// Anything else, in a sentence.
    Failed(String),
}

/// Has the schema of each call be the one that the server gives by reflection, unless the call names one or needs none. The
/// headers of a call are sent with its questions.
///
/// # Errors
/// A sentence on what the server answered, and what to do.
pub fn reflect<'a>(
    calls: impl Iterator<Item = (&'a mut Grpc, &'a [(String, String)])>,
    to: (&Target<Address>, &Transport),
    timeout: Duration,
) -> Result<(), String> {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut connection = None;
    for (grpc, headers) in calls {
        let (service, _) = Method::names(&grpc.method)?;
        if grpc.proto.is_some() || grpc.reflected.is_some() || Schema::is_built_in(service) {
            continue;
        }
        if !known.contains_key(service) {
            let mut server = Server {
                connection: &mut connection,
                to,
                headers,
                timeout,
            };
            let found = server.schema(service).map_err(|why| {
                format!("grpc: the schema was asked from the server by reflection: {why}; or name it by --proto FILE")
            })?;
            known.insert(service.to_owned(), found);
        }
        grpc.reflected = known.get(service).cloned();
    }
    Ok(())
}

/// The server that is asked.
struct Server<'a> {
    connection: &'a mut Option<Connection>,
    to: (&'a Target<Address>, &'a Transport),
    headers: &'a [(String, String)],
    timeout: Duration,
}

impl Server<'_> {
    /// The files of a service, as a descriptor set in base64.
    fn schema(&mut self, service: &str) -> Result<String, String> {
        let wanted = json!({"file_containing_symbol": service});
        for version in VERSIONS {
            return match self.ask(version, &wanted) {
                Err(Unanswered::Unknown) => continue,
                Err(Unanswered::Failed(why)) => Err(why),
                Ok(response) => self.files(version, service, &response),
            };
        }
        Err(
            "it has none (grpc.reflection.v1 and v1alpha are UNIMPLEMENTED): switch it on there"
                .to_owned(),
        )
    }

    fn files(&mut self, version: &str, service: &str, first: &Value) -> Result<String, String> {
        let mut found = Reflected::default();
        if let Err(why) = found.take(first) {
            let listed = self.ask(version, &json!({"list_services": "*"}));
            let known = listed.map_or_else(|_| Vec::new(), |listed| services(&listed));
            return Err(match known.as_slice() {
                [] => why,
                known if known.iter().any(|known| known == service) => why,
                known => format!("it has no service {service:?}; it has {}", known.join(", ")),
            });
        }
        while let Some(import) = found.missing() {
            let asked = self.ask(version, &json!({"file_by_filename": import}));
            match asked {
                Ok(response) if response.get("errorResponse").is_none() => found.take(&response)?,
                Ok(_) | Err(Unanswered::Unknown) => {}
                Err(Unanswered::Failed(why)) => return Err(why),
            }
            if found.missing().as_ref() == Some(&import) {
                found.lacks(&import);
            }
        }
        Ok(found.set())
    }

    /// The response to one question, in JSON.
    fn ask(&mut self, version: &str, question: &Value) -> Result<Value, Unanswered> {
        let failed = Unanswered::Failed;
        let (target, transport) = self.to;
        let request = Request {
            grpc: Some(Grpc {
                method: version.to_owned(),
                ..Grpc::default()
            }),
            headers: self.headers.to_vec(),
            body: Some(question.to_string()),
            ..Request::default()
        };
        let origin = Origin {
            url: &target.url,
            closes: false,
            is_h2: transport.protocol.is_h2(),
            timeout: self.timeout,
        };
        let scope = Scope {
            only: Some(Key::default()),
            ..Scope::default()
        };
        let compiled = CompiledRequest::compile(&request, origin, scope).map_err(failed)?;
        let mut bytes = Vec::new();
        compiled.render(Key::default(), &mut bytes, &mut Vec::new());
        let kept = self.connection.take();
        let mut connection = match kept.and_then(|mut kept| kept.is_at_rest().then_some(kept)) {
            Some(kept) => kept,
            None => Connection::open(transport, target, self.timeout)
                .map_err(|why| failed(format!("connecting to {}: {why}", target.address)))?,
        };
        let answered = connection.exchange(&bytes, false, Instant::now() + self.timeout);
        let response = answered.map_err(|error| {
            failed(match error.late {
                true => format!("no whole answer within {} s", self.timeout.as_secs_f64()),
                false => format!("no answer: {}", error.why),
            })
        })?;
        let response = response.response;
        if response.keep_alive {
            *self.connection = Some(connection);
        }
        let head = &*compiled.whole_head(&response);
        if response.status == 404 || code(head) == Some(UNIMPLEMENTED) {
            return Err(Unanswered::Unknown);
        }
        let faults = compiled.faults(&response, Key::default());
        if let Some(fault) = faults.first() {
            return Err(failed(format!("it answered wrongly: {fault}")));
        }
        let json = compiled.shown_body(head, &response.body);
        serde_json::from_slice(&json)
            .map_err(|error| failed(format!("it answered wrongly: {error}")))
    }
}
