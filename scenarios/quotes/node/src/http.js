import { createServer } from 'node:http';
import { createServer as createServer2 } from 'node:http2';

import { each, fits, isSymbol, quote, written } from './quote.js';

/** HTTP/1.1 and HTTP/2 without TLS on one port: a connection is the server's whose protocol it begins with. */
export function buildServer() {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer);
  const two = createServer2(answer);
  const sessions = new Set();
  two.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  const [one] = server.listeners('connection');
  server.off('connection', one).on('connection', (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => {
      const beginning = socket.read();
      if (beginning === null) return;
      socket.unshift(beginning);
      // The preface of HTTP/2 begins so (RFC 9113, section 3.4), and no method of HTTP/1.1 does.
      if (beginning.subarray(0, 3).toString('latin1') === 'PRI') two.emit('connection', socket);
      else one.call(server, socket);
    });
  });
  return { server, close: () => close(server, sessions) };
}

/** Resolves once the requests under way have been answered and all connections are closed. */
function close(server, sessions) {
  for (const session of sessions) session.close();
  // Connections at rest are closed once; one that is busy now would be kept for its idle timeout.
  const timer = setInterval(() => server.closeIdleConnections(), 100);
  return new Promise((done) => {
    server.close(done);
    server.closeIdleConnections();
  }).finally(() => clearInterval(timer));
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://localhost');
  const [, place, symbol, events, more] = url.pathname.split('/');
  const known = place === 'quotes' && isSymbol(symbol ?? '') && more === undefined;
  if (!known || (events !== undefined && events !== 'events')) {
    response.writeHead(404).end();
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else if (events === undefined) {
    const body = JSON.stringify(quote(symbol, 1));
    const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    response.writeHead(200, head).end(body);
  } else {
    await stream(url.searchParams, symbol, response);
  }
}

async function stream(asked, symbol, response) {
  const [count, interval] = [number(asked.get('count') ?? '1'), number(asked.get('interval_ms') ?? '0')];
  if (!fits(count, interval)) {
    response.writeHead(400).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  // Over HTTP/2 the stream itself says when its reader is gone.
  const out = response.stream ?? response;
  await each(symbol, count, interval, (one) => written(out, `id: ${one.number}\ndata: ${JSON.stringify(one)}\n\n`));
  out.end();
}

function number(text) {
  return /^\d{1,6}$/.test(text) ? Number(text) : NaN;
}
