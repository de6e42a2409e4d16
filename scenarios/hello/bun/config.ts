import { availableParallelism } from "node:os";

export interface Config {
  hostname: string;
  port: number;
  workers: number;
  /** Seconds; 0 is none. */
  idleTimeout: number;
}

/** What Bun grants at most. */
const LONGEST_IDLE_S = 255;

/** The settings, from the environment. */
export function configFromEnv(env: NodeJS.ProcessEnv): Config {
  const idle = Math.ceil(whole(env, "IDLE_TIMEOUT_MS", 60_000) / 1000);
  return {
    hostname: env.HOST || "127.0.0.1",
    port: whole(env, "PORT", 8080),
    workers: whole(env, "WORKERS", 0) || availableParallelism(),
    idleTimeout: idle > LONGEST_IDLE_S ? 0 : idle,
  };
}

function whole(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} is '${text}': give a whole number`);
  return Number(text);
}
