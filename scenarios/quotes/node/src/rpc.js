import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

import { each, fits, isSymbol, quote, written } from './quote.js';

const { quotes } = grpc.loadPackageDefinition(
  loadSync(fileURLToPath(new URL('../proto/quotes.proto', import.meta.url)), { keepCase: true, longs: Number, defaults: true }),
);

/** The gRPC server of one process. */
export function buildRpc() {
  const server = new grpc.Server();
  server.addService(quotes.v1.Quotes.service, { Get: get, Watch: watch });
  return server;
}

function get({ request }, callback) {
  if (!isSymbol(request.symbol)) callback(unknown());
  else callback(null, quote(request.symbol, 1));
}

async function watch(call) {
  const { symbol, count, interval_ms: interval } = call.request;
  if (!isSymbol(symbol)) {
    call.emit('error', unknown());
  } else if (!fits(count, interval)) {
    const details = 'count is 1 to 1000, interval_ms 0 to 1000';
    call.emit('error', { code: grpc.status.INVALID_ARGUMENT, details });
  } else {
    await each(symbol, count, interval, (one) => written(call, one));
    call.end();
  }
}

function unknown() {
  return { code: grpc.status.NOT_FOUND, details: 'no such symbol' };
}

/** Binds to an address; fails if it is taken. */
export function bind(server, address) {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
}
