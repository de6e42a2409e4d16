import Fastify from 'fastify';

import { isAway } from './store.js';
import { readUser } from './user.js';

const MAX_BODY = 64 * 1024;
const JSON_TYPE = 'application/json';

const ERRORS = {
  400: 'expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), and nothing else',
  404: 'not found',
  405: 'method not allowed',
  413: 'the body is over 64 KB',
  415: 'the content type must be application/json',
  500: 'internal error',
  503: 'the database is unavailable',
};

const row = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    email: { type: 'string' },
    age: { type: 'integer' },
  },
};

/** The HTTP side: `/api` through the store, `/echo` past it. Times are milliseconds. */
export function buildApp(store, { readTimeout, idleTimeout }) {
  const app = Fastify({
    bodyLimit: MAX_BODY,
    requestTimeout: readTimeout,
    keepAliveTimeout: idleTimeout,
    http: { headersTimeout: readTimeout },
    logger: { level: 'warn', stream: process.stderr },
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (_request, body, done) => {
    const user = readUser(body);
    done(user ? null : refusal(400), user);
  });

  const answersRow = { schema: { response: { 200: row } } };
  resource(app, 'POST', '/api', answersRow, async (request) => {
    const user = userIn(request);
    try {
      return await store.passThrough(user);
    } catch (error) {
      throw isAway(error) ? refusal(503) : error;
    }
  });
  resource(app, 'POST', '/echo', answersRow, async (request) => ({ id: 0, ...userIn(request) }));
  resource(app, 'GET', '/ping', {}, async () => 'pong');

  app.setNotFoundHandler((_request, reply) => answer(reply, 404));
  app.setErrorHandler((error, request, reply) => {
    const status = error.statusCode in ERRORS ? error.statusCode : 500;
    if (status === 500) request.log.error(error);
    return answer(reply, status);
  });
  return app;
}

/** The method by the handler; every other one is turned away before its body is read. */
function resource(app, method, url, options, handler) {
  app.route({ ...options, method, url, handler });
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method];
  app.route({
    method: app.supportedMethods.filter((other) => !allowed.includes(other)),
    url,
    onRequest: (_request, reply) => {
      answer(reply.header('allow', allowed.join(', ')), 405);
    },
    handler: () => {},
  });
}

/** The user that the parser read. A request without a body and a content type has not been through it. */
function userIn({ body }) {
  if (!body) throw refusal(415);
  return body;
}

function refusal(statusCode) {
  return Object.assign(new Error(ERRORS[statusCode]), { statusCode });
}

function answer(reply, status) {
  return reply.code(status).type(JSON_TYPE).send({ error: ERRORS[status] });
}
