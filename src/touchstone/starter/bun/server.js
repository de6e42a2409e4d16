const server = Bun.serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  routes: { "/ping": () => new Response("pong") },
  fetch: () => new Response("not found", { status: 404 }),
});

process.on("SIGTERM", async () => {
  // A client that has sent half a request would keep the process until its idle timeout, 10 s.
  await Promise.race([server.stop(), Bun.sleep(5000)]);
  process.exit(0);
});
