/** The settings, from the environment. Times are milliseconds. */
export function configFromEnv(env) {
  if (!env.DATABASE_URL) {
    throw new Error('DATABASE_URL is not set: give postgres://user:password@host:port/database');
  }
  return {
    host: env.HOST || '127.0.0.1',
    port: positive(env, 'PORT', 8080),
    readTimeout: positive(env, 'HTTP_READ_TIMEOUT_MS', 10_000),
    idleTimeout: positive(env, 'HTTP_IDLE_TIMEOUT_MS', 60_000),
    database: {
      url: env.DATABASE_URL,
      pool: positive(env, 'DATABASE_POOL', 8),
      timeout: positive(env, 'DATABASE_TIMEOUT_MS', 10_000),
    },
  };
}

function positive(env, name, otherwise) {
  const text = env[name];
  if (!text) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new Error(`${name} is '${text}': give a whole number above 0`);
  }
  return Number(text);
}
