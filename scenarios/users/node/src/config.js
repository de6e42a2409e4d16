/** The settings, from the environment. */
export function configFromEnv(env) {
  return {
    host: env.HOST || '127.0.0.1',
    port: positive(env, 'PORT', 8080),
    database: {
      path: env.DATABASE_PATH || 'users.db',
      pool: positive(env, 'DATABASE_POOL', 10),
      busyTimeout: positive(env, 'DATABASE_BUSY_TIMEOUT_MS', 10_000),
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
