// Bun.serve with no setting but its routes.
const answer = () => new Response('Hello, world!', { headers: { 'content-type': 'text/plain' } });
const server = Bun.serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  routes: {
    '/hello': answer,
    '/slow': async () => {
      await Bun.sleep(1000);
      return answer();
    },
  },
  fetch: () => new Response(null, { status: 404 }),
});
process.on('SIGTERM', async () => {
  await server.stop();
  process.exit();
});
