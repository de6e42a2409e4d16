import { type Config, configFromEnv } from "./config.ts";

const config = configFromEnv(process.env);
const WORKER = "HELLO_WORKER";

if (config.workers > 1 && !process.env[WORKER]) {
  supervise(config.workers);
} else {
  serve(config);
}

/** One process. The kernel spreads connections over those that share the port by SO_REUSEPORT. */
function serve({ hostname, port, idleTimeout }: Config): void {
  const hello = () => new Response("Hello, world!", { headers: { "content-type": "text/plain" } });
  const server = Bun.serve({
    hostname,
    port,
    idleTimeout,
    reusePort: true,
    routes: {
      "/hello": {
        GET: hello,
        HEAD: hello,
      },
    },
    fetch(request) {
      if (new URL(request.url).pathname === "/hello") {
        return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
      }
      return new Response(null, { status: 404 });
    },
  });
  console.error(`hello: listening on ${hostname}:${port}`);
  stopOnSignal(async () => {
    await server.stop();
    process.exit();
  });
}

function supervise(count: number): void {
  let stopping = false;
  const workers = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, import.meta.path], {
      env: { ...process.env, [WORKER]: "1" },
      stdio: ["ignore", "inherit", "inherit"],
      onExit(worker, code, signal) {
        if (stopping) return;
        console.error(`hello: worker ${worker.pid} ended (${signal ?? code}); all end`);
        process.exit(1);
      },
    }),
  );
  stopOnSignal(async () => {
    stopping = true;
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.exited));
    process.exit();
  });
}

function stopOnSignal(stop: () => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, stop);
}
