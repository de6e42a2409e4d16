//! gRPC.

use std::pin::Pin;

use futures_core::Stream;
use tonic::{Request, Response, Status};

use crate::quote::{self, Wanted, is_symbol};
use pb::quotes_server::Quotes;
use pb::{GetRequest, Quote, WatchRequest};

#[allow(clippy::pedantic)]
pub mod pb {
    tonic::include_proto!("quotes.v1");
}

pub struct Service;

#[tonic::async_trait]
impl Quotes for Service {
    async fn get(&self, request: Request<GetRequest>) -> Result<Response<Quote>, Status> {
        let symbol = known(request.into_inner().symbol)?;
        Ok(Response::new(quote::quote(&symbol, 1)))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<Quote, Status>> + Send>>;

    async fn watch(
        &self,
        request: Request<WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let asked = request.into_inner();
        let symbol = known(asked.symbol)?;
        let wanted = Wanted::new(asked.count, asked.interval_ms)
            .ok_or_else(|| Status::invalid_argument("count is 1 to 1000, interval_ms 0 to 1000"))?;
        let messages = async_stream::stream! {
            for await quote in quote::quotes(symbol, wanted) {
                yield Ok(quote);
            }
        };
        Ok(Response::new(Box::pin(messages)))
    }
}

fn known(symbol: String) -> Result<String, Status> {
    if is_symbol(&symbol) {
        Ok(symbol)
    } else {
        Err(Status::not_found("no such symbol"))
    }
}
