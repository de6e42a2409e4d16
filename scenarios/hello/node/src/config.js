import { availableParallelism } from 'node:os';

/** The settings, from the environment. Times are milliseconds. */
export function configFromEnv(env) {
  return {
    host: env.HOST || '127.0.0.1',
    port: whole(env, 'PORT', 8080),
    workers: whole(env, 'WORKERS', 0) || availableParallelism(),
    requestTimeout: whole(env, 'REQUEST_TIMEOUT_MS', 10_000),
    idleTimeout: whole(env, 'IDLE_TIMEOUT_MS', 60_000),
    writeTimeout: whole(env, 'WRITE_TIMEOUT_MS', 10_000),
  };
}

function whole(env, name, otherwise) {
  const text = env[name];
  if (!text) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} is '${text}': give a whole number`);
  return Number(text);
}
