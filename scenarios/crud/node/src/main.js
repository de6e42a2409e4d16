import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

import { buildApp } from './app.js';
import { configFromEnv } from './config.js';
import { openStore } from './store.js';

const config = configFromEnv(process.env);
// A process for each CPU, and no more of them than there may be sessions; they divide the pool.
const processes = Math.min(availableParallelism(), config.database.pool);

if (cluster.isPrimary && processes > 1) {
  supervise(processes);
} else {
  await serve(config, Math.floor(config.database.pool / processes));
}

async function serve({ host, port, database, ...timeouts }, pool) {
  const store = openStore({ ...database, pool });
  const app = buildApp(store, timeouts);
  app.addHook('onClose', () => store.close());
  stopOnSignal(async () => {
    // Fastify closes idle connections once. One that is busy at that moment would stay open for its idle timeout.
    setInterval(() => app.server.closeIdleConnections(), 100);
    // Node waits forever for a client that has sent nothing or half a request.
    setTimeout(() => app.server.closeAllConnections(), 5000);
    await app.close();
    // A worker's channel to its primary would keep it alive.
    process.exit();
  });
  await app.listen({ host, port });
  console.error(`listening on ${host}:${port}`);
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
    console.error(`worker ${worker.process.pid} ended (${signal ?? code}); all end`);
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
