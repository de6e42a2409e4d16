import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

import { buildServer } from './http.js';
import { bind, buildRpc } from './rpc.js';

const DRAIN_MS = 5000;
const workers = whole('WORKERS', 0) || availableParallelism();

if (cluster.isPrimary && workers > 1) {
  supervise(workers);
} else {
  await serve();
}

async function serve() {
  const host = process.env.HOST || '127.0.0.1';
  const [port, grpcPort] = [whole('PORT', 8080), whole('GRPC_PORT', 50051)];
  const rpc = buildRpc();
  await bind(rpc, `${host}:${grpcPort}`);
  const web = buildServer();
  web.server.on('error', (error) => {
    console.error(`quotes: ${error.message}`);
    process.exit(1);
  });
  web.server.listen({ host, port, backlog: 4096 }, () => {
    console.error(`quotes: listening on ${host}:${port}, for gRPC on ${host}:${grpcPort}`);
  });
  stopOnSignal(() => {
    const end = () => process.exit();
    const calls = new Promise((done) => rpc.tryShutdown(done));
    Promise.all([web.close(), calls]).then(end);
    setTimeout(end, DRAIN_MS);
  });
}

function supervise(count) {
  for (let i = 0; i < count; i += 1) cluster.fork();
  let stopping = false;
  stopOnSignal(() => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) worker.process.kill();
  });
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return;
    console.error(`quotes: worker ${worker.process.pid} ended (${signal ?? code}); all end`);
    process.exit(1);
  });
}

function stopOnSignal(stop) {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      // A worker may get the signal twice, as a member of its process group and from its primary.
      if (!stopping) stop();
      stopping = true;
    });
  }
}

function whole(name, otherwise) {
  const text = process.env[name];
  if (!text) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} is '${text}': give a whole number`);
  return Number(text);
}
