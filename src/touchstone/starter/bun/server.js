const server = Bun.serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  routes: { "/ping": () => new Response("pong") },
  fetch: () => new Response("not found", { status: 404 }),
});

process.on("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});
