const WORKER = "HELLO_WORKER";

const hostname = Deno.env.get("HOST") || "127.0.0.1";
const port = whole("PORT", 8080);
const workers = whole("WORKERS", 0) || navigator.hardwareConcurrency;

if (workers > 1 && !Deno.env.has(WORKER)) {
  supervise(workers);
} else {
  serve();
}

/** One process. The kernel spreads connections over those that share the port by SO_REUSEPORT. */
function serve(): void {
  const server = Deno.serve({
    hostname,
    port,
    reusePort: true,
    tcpBacklog: 4096,
    onListen: () => console.error(`hello: listening on ${hostname}:${port}`),
  }, answer);
  stopOnSignal(() => server.shutdown());
}

function answer(request: Request): Response {
  if (new URL(request.url).pathname !== "/hello") {
    return new Response(null, { status: 404 });
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
  }
  return new Response("Hello, world!", {
    headers: { "content-type": "text/plain" },
  });
}

function supervise(count: number): void {
  let stopping = false;
  const workers = Array.from(
    { length: count },
    () =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--allow-net", "--allow-env", import.meta.filename!],
        env: { [WORKER]: "1" },
        stdin: "null",
      }).spawn(),
  );
  for (const worker of workers) {
    worker.status.then(({ code }) => {
      if (stopping) return;
      console.error(`hello: worker ${worker.pid} ended (${code}); all end`);
      Deno.exit(1);
    });
  }
  stopOnSignal(async () => {
    stopping = true;
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.status));
  });
}

function stopOnSignal(stop: () => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, async () => {
      await stop();
      Deno.exit();
    });
  }
}

function whole(name: string, otherwise: number): number {
  const text = Deno.env.get(name);
  if (!text) return otherwise;
  if (!/^\d{1,9}$/.test(text)) {
    throw new Error(`${name} is '${text}': give a whole number`);
  }
  return Number(text);
}
