package crud

import io.netty.channel.ChannelOption
import io.netty.channel.group.DefaultChannelGroup
import io.netty.util.concurrent.DefaultEventExecutor
import reactor.netty.http.server.HttpServer
import java.time.Duration
import kotlin.system.exitProcess

/** Leaves a second of the five that the start contract grants. */
private val DRAIN_LIMIT = Duration.ofSeconds(4)

fun main() {
    val config =
        try {
            Config()
        } catch (problem: IllegalArgumentException) {
            System.err.println("crud cannot go on: ${problem.message}")
            exitProcess(1)
        }
    val store = Store(config)
    val http = Http(store, config)
    val server =
        HttpServer
            .create()
            .host(config.host)
            .port(config.port)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .readTimeout(config.readTimeout)
            .requestTimeout(config.readTimeout)
            .idleTimeout(config.idleTimeout)
            // With a group, disposing waits for the requests that are being answered.
            .channelGroup(DefaultChannelGroup(DefaultEventExecutor()))
            .handle(http::handle)
            .bindNow()
    System.err.println("listening on ${server.address()}")
    Runtime.getRuntime().addShutdownHook(
        Thread {
            server.disposeNow(DRAIN_LIMIT)
            store.close()
        },
    )
    server.onDispose().block()
}
