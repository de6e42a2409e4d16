const server = Deno.serve(
  { hostname: Deno.env.get("HOST"), port: Number(Deno.env.get("PORT")), onListen() {} },
  (request) =>
    new URL(request.url).pathname === "/ping" ? new Response("pong") : new Response("not found", { status: 404 }),
);

Deno.addSignalListener("SIGTERM", () => server.shutdown());
