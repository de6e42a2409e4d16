package crud

import java.time.Duration

/** The settings, from the environment. */
class Config(env: Map<String, String> = System.getenv()) {
    val host: String = env["HOST"] ?: "127.0.0.1"
    val port: Int = env.positiveInt("PORT", 8080)
    val readTimeout: Duration = env.milliseconds("HTTP_READ_TIMEOUT_MS", 10_000)
    val idleTimeout: Duration = env.milliseconds("HTTP_IDLE_TIMEOUT_MS", 60_000)
    val databaseUrl: String =
        requireNotNull(env["DATABASE_URL"]) {
            "DATABASE_URL is not set: give postgres://user:password@host:port/database"
        }
    val databasePool: Int = env.positiveInt("DATABASE_POOL", 8)
    val databaseTimeout: Duration = env.milliseconds("DATABASE_TIMEOUT_MS", 10_000)
}

private fun Map<String, String>.positiveInt(name: String, otherwise: Int): Int {
    val value = this[name] ?: return otherwise
    return requireNotNull(value.toIntOrNull()?.takeIf { it > 0 }) { "$name is \"$value\": give a whole number above 0" }
}

private fun Map<String, String>.milliseconds(name: String, otherwise: Int): Duration =
    Duration.ofMillis(positiveInt(name, otherwise).toLong())
