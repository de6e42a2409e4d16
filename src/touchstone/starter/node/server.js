const fastify = require("fastify")();

fastify.get("/ping", async () => "pong");
fastify.setNotFoundHandler(async (request, reply) => reply.code(404).send("not found"));

process.on("SIGTERM", () => {
  fastify.close();
  // Fastify closes idle connections once. One that is busy at that moment would stay open for its idle timeout, 72 s.
  setInterval(() => fastify.server.closeIdleConnections(), 100).unref();
  // Node waits forever for a client that has sent nothing or half a request.
  setTimeout(() => fastify.server.closeAllConnections(), 5000).unref();
});
fastify.listen({ host: process.env.HOST, port: Number(process.env.PORT) });
