const fastify = require("fastify")();

fastify.get("/ping", async () => "pong");
fastify.setNotFoundHandler(async (request, reply) => reply.code(404).send("not found"));

process.on("SIGTERM", () => fastify.close());
fastify.listen({ host: process.env.HOST, port: Number(process.env.PORT) });
