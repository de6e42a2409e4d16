package users

import java.nio.file.Path
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** The settings, from the environment. */
data class Config(val host: String, val port: Int, val database: DatabaseConfig) {
    companion object {
        fun from(env: Map<String, String>) = Config(
            host = env["HOST"] ?: "127.0.0.1",
            port = env.number("PORT", 8080),
            database = DatabaseConfig(
                path = Path.of(env["DATABASE_PATH"] ?: "users.db"),
                pool = env.number("DATABASE_POOL", 10),
                busyTimeout = env.number("DATABASE_BUSY_TIMEOUT_MS", 10_000).milliseconds,
            ),
        )
    }
}

data class DatabaseConfig(val path: Path, val pool: Int, val busyTimeout: Duration)

private fun Map<String, String>.number(name: String, otherwise: Int): Int {
    val value = this[name] ?: return otherwise
    return requireNotNull(value.toIntOrNull()?.takeIf { it >= 0 }) { "$name is '$value': give a whole number" }
}
