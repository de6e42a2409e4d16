package users

import org.eclipse.jetty.server.HttpConfiguration
import org.eclipse.jetty.server.HttpConnectionFactory
import org.eclipse.jetty.server.Server
import org.eclipse.jetty.server.ServerConnector
import org.http4k.server.Jetty
import org.http4k.server.ServerConfig.StopMode.Graceful
import org.http4k.server.asServer
import sun.misc.Signal
import java.time.Duration
import java.util.concurrent.CountDownLatch

// Leaves a second of the five that the start contract grants.
private val drainLimit = Duration.ofSeconds(4)

fun main() {
    val config = Config.from(System.getenv())
    // A JVM that a shutdown hook ends on SIGTERM exits with 143; a service that drained has ended well.
    val asked = CountDownLatch(1)
    listOf("TERM", "INT").forEach { Signal.handle(Signal(it)) { asked.countDown() } }

    Store(config.database).use { store ->
        val server = userRoutes(store).asServer(Jetty(config.port, Graceful(drainLimit), { connector(it, config) }))
        server.start().use {
            System.err.println("listening on ${config.host}:${server.port()}")
            asked.await()
        }
    }
}

private fun connector(server: Server, config: Config): ServerConnector {
    val http = HttpConfiguration().apply {
        // Jetty's 8 KiB are too few for a name of 10 KB, all the more if it is percent-escaped.
        requestHeaderSize = 64 * 1024
        sendServerVersion = false
    }
    return ServerConnector(server, HttpConnectionFactory(http)).apply {
        host = config.host
        port = config.port
    }
}
