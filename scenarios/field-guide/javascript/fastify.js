// Fastify with no setting.
import Fastify from 'fastify';

const app = Fastify();
app.get('/hello', (_, reply) => reply.type('text/plain').send('Hello, world!'));
app.get('/slow', (_, reply) => {
  setTimeout(() => reply.type('text/plain').send('Hello, world!'), 1000);
});
await app.listen({ host: process.env.HOST, port: Number(process.env.PORT) });
process.on('SIGTERM', () => app.close());
