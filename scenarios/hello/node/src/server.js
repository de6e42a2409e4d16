import { createServer } from 'node:http';

const BODY = 'Hello, world!';
const HEAD = { 'content-type': 'text/plain', 'content-length': BODY.length };

/** The server of one process. Times are milliseconds. */
export function buildServer({ requestTimeout, idleTimeout, writeTimeout }) {
  const server = createServer(
    { requestTimeout, headersTimeout: requestTimeout, keepAliveTimeout: idleTimeout },
    answer,
  );
  // Silence on a socket whose request or response is under way; between requests keepAliveTimeout takes its place.
  server.setTimeout(writeTimeout);
  return server;
}

function answer(request, response) {
  if (request.url.split('?', 1)[0] !== '/hello') {
    response.writeHead(404).end();
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else {
    // Node sends no body in answer to HEAD.
    response.writeHead(200, HEAD).end(BODY);
  }
}
