// Deno.serve with no setting but its handler.
const answer = () => new Response('Hello, world!', { headers: { 'content-type': 'text/plain' } });
const server = Deno.serve({ hostname: Deno.env.get('HOST'), port: Number(Deno.env.get('PORT')) }, async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === '/hello') return answer();
  if (pathname !== '/slow') return new Response(null, { status: 404 });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return answer();
});
Deno.addSignalListener('SIGTERM', () => server.shutdown());
