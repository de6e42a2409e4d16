import cluster from 'node:cluster';

import { configFromEnv } from './config.js';
import { buildServer } from './server.js';

const config = configFromEnv(process.env);

if (cluster.isPrimary && config.workers > 1) {
  supervise(config.workers);
} else {
  serve(config);
}

function serve(settings) {
  const server = buildServer(settings);
  server.on('error', (error) => {
    console.error(`hello: ${error.message}`);
    process.exit(1);
  });
  // Node from 22.12 on binds with SO_REUSEPORT, so that several processes can share the port; an earlier one ignores it.
  server.listen({ host: settings.host, port: settings.port, backlog: 4096, reusePort: true }, () => {
    console.error(`hello: listening on ${settings.host}:${settings.port}`);
  });
  stopOnSignal(() => {
    // A worker's channel to its primary would keep it alive.
    server.close(() => process.exit());
    // Connections at rest are closed once; one that is busy now would be kept for its idle timeout.
    setInterval(() => server.closeIdleConnections(), 100);
    // Node waits forever for a client that has sent nothing or half a request.
    setTimeout(() => server.closeAllConnections(), 5000);
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
    console.error(`hello: worker ${worker.process.pid} ended (${signal ?? code}); all end`);
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
