package crud

import io.vertx.core.Future
import io.vertx.core.Vertx
import io.vertx.core.VertxOptions
import io.vertx.pgclient.PgBuilder
import io.vertx.pgclient.PgConnectOptions
import io.vertx.pgclient.PgConnection
import io.vertx.pgclient.PgException
import io.vertx.sqlclient.Pool
import io.vertx.sqlclient.PoolOptions
import io.vertx.sqlclient.SqlConnection
import io.vertx.sqlclient.Tuple
import reactor.core.publisher.Mono
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException

private const val INSERT = "INSERT INTO users (name, email, age) VALUES ($1, $2, $3) RETURNING id"
private const val SELECT = "SELECT id, name, email, age FROM users WHERE id = $1"
private const val DELETE = "DELETE FROM users WHERE id = $1"

/** The users, in PostgreSQL. Sessions are opened when they are first needed; each prepares a statement once. */
class Store(config: Config) {
    private val timeoutMs = config.databaseTimeout.toMillis()
    private val loops = Runtime.getRuntime().availableProcessors()
    private val vertx: Vertx = Vertx.vertx(VertxOptions().setEventLoopPoolSize(loops))
    private val pool: Pool =
        PgBuilder
            .pool()
            .with(
                PoolOptions()
                    .setMaxSize(config.databasePool)
                    .setEventLoopSize(loops)
                    .setConnectionTimeout(timeoutMs.toInt())
                    .setConnectionTimeoutUnit(TimeUnit.MILLISECONDS),
            ).connectingTo(PgConnectOptions.fromUri(config.databaseUrl).setCachePreparedStatements(true))
            .using(vertx)
            .build()

    /** Inserts the user, reads it back and deletes it, on one session; each statement commits by itself. */
    fun passThrough(user: NewUser): Mono<UserRow> =
        Mono.create { sink ->
            pool
                .withConnection { session -> insertSelectDelete(session, user) }
                .onComplete(sink::success, sink::error)
        }

    private fun insertSelectDelete(session: SqlConnection, user: NewUser): Future<UserRow> =
        session
            .preparedQuery(INSERT)
            .execute(Tuple.of(user.name, user.email, user.age))
            .compose { session.preparedQuery(SELECT).execute(Tuple.of(it.iterator().next().getInteger(0))) }
            .compose { found ->
                val row = found.iterator().next()
                val read = UserRow(row.getInteger(0), row.getString(1), row.getString(2), row.getInteger(3))
                session.preparedQuery(DELETE).execute(Tuple.of(read.id)).map(read)
            }.timeout(timeoutMs, TimeUnit.MILLISECONDS)
            .onFailure { cause ->
                // The session goes back to the pool: what it still does must end.
                if (cause is TimeoutException) PgConnection.cast(session).cancelRequest()
            }

    fun close() {
        pool.close().toCompletionStage().toCompletableFuture().get(1, TimeUnit.SECONDS)
        vertx.close()
    }
}

/** Tells a database that cannot serve from a statement that is wrong. */
fun isAway(failure: Throwable): Boolean {
    if (failure !is PgException) return true
    // Connection exception, insufficient resources, a database that takes no connections, operator intervention.
    return failure.sqlState?.take(2) in setOf("08", "53", "55", "57")
}
