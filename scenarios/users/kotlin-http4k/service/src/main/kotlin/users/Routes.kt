package users

import org.http4k.core.ContentType
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Method.HEAD
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.Status.Companion.BAD_REQUEST
import org.http4k.core.Status.Companion.INTERNAL_SERVER_ERROR
import org.http4k.core.Status.Companion.METHOD_NOT_ALLOWED
import org.http4k.core.Status.Companion.NOT_FOUND
import org.http4k.core.Status.Companion.OK
import org.http4k.core.with
import org.http4k.lens.contentType
import org.http4k.routing.bind
import org.http4k.routing.orElse
import org.http4k.routing.routes
import org.slf4j.LoggerFactory
import java.sql.SQLException

private val log = LoggerFactory.getLogger("users")

fun userRoutes(store: Store): HttpHandler = routes(
    resource("/ping") { answer(OK, "pong") } +
        resource("/add", withName { register(store, it) }) +
        resource("/", withName { find(store, it) }) +
        (orElse bind { answer(NOT_FOUND, "not found") }),
)

private fun resource(path: String, get: HttpHandler) = listOf(
    path bind GET to get,
    path bind HEAD to get,
    path bind { answer(METHOD_NOT_ALLOWED, "method not allowed").header("Allow", "GET, HEAD") },
)

private fun withName(next: (String) -> Response): HttpHandler = { request ->
    when (val name = nameIn(request)) {
        null, "" -> answer(BAD_REQUEST, "name is required")
        else -> next(name)
    }
}

private fun nameIn(request: Request): String? = try {
    request.query("name")
} catch (_: IllegalArgumentException) {
    // A percent sign that no two hexadecimal digits follow.
    null
}

private fun register(store: Store, name: String): Response {
    val added = try {
        store.add(name)
    } catch (e: SQLException) {
        log.error("insert failed: {}", e.message)
        false
    }
    return if (added) {
        answer(OK, "Welcome to our community $name!")
    } else {
        answer(INTERNAL_SERVER_ERROR, "Sadly we failed to register you: $name")
    }
}

private fun find(store: Store, name: String): Response = try {
    when (val found = store.find(name)) {
        null -> answer(NOT_FOUND, "Sadly we could not find you: $name")
        else -> answer(OK, "Boom! We found you: $found")
    }
} catch (e: SQLException) {
    log.error("lookup failed: {}", e.message)
    answer(INTERNAL_SERVER_ERROR, "internal error")
}

private fun answer(status: Status, body: String) =
    Response(status).contentType(ContentType.TEXT_PLAIN).body(body)
