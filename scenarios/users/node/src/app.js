import Fastify from 'fastify';

// Node's limit of 16 KiB for a request's head is too small for a name of 10 KB that is percent-escaped.
const MAX_HEAD = 64 * 1024;

const named = {
  schema: {
    querystring: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 } },
      required: ['name'],
    },
  },
};

/** The HTTP side: three resources over the store. */
export function buildApp(store) {
  const app = Fastify({
    http: { maxHeaderSize: MAX_HEAD },
    logger: { level: 'warn', stream: process.stderr },
  });

  resource(app, '/ping', {}, () => 'pong');
  resource(app, '/add', named, (request, reply) => {
    const { name } = request.query;
    if (registered(store, name, request.log)) return `Welcome to our community ${name}!`;
    reply.code(500);
    return `Sadly we failed to register you: ${name}`;
  });
  resource(app, '/', named, (request, reply) => {
    const { name } = request.query;
    const found = store.find(name);
    if (found !== undefined) return `Boom! We found you: ${found}`;
    reply.code(404);
    return `Sadly we could not find you: ${name}`;
  });

  app.setNotFoundHandler((_request, reply) => reply.code(404).send('not found'));
  app.setErrorHandler((error, request, reply) => {
    if (error.validation) return reply.code(400).send('name is required');
    if (error.statusCode < 500) return reply.code(error.statusCode).type('text/plain; charset=utf-8').send('bad request');
    request.log.error(error);
    return reply.code(500).type('text/plain; charset=utf-8').send('internal error');
  });
  return app;
}

/** GET and HEAD by the handler; every other method is turned away before its body is read. */
function resource(app, url, options, handler) {
  app.get(url, options, handler);
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD'),
    url,
    onRequest: (_request, reply) => {
      reply.code(405).header('allow', 'GET, HEAD').send('method not allowed');
    },
    handler: () => {},
  });
}

function registered(store, name, log) {
  try {
    return store.add(name);
  } catch (error) {
    log.error(error, 'insert failed');
    return false;
  }
}
