package crud

import io.netty.buffer.Unpooled
import io.netty.handler.codec.http.HttpHeaderNames
import io.netty.handler.codec.http.HttpMethod
import reactor.core.publisher.Mono
import reactor.netty.http.server.HttpServerRequest
import reactor.netty.http.server.HttpServerResponse
import java.lang.System.Logger.Level
import java.util.concurrent.TimeoutException

private const val MAX_BODY = 64 shl 10
private const val JSON = "application/json"

private val log = System.getLogger("crud")

/** An answer that is always the same. */
private enum class Fixed(val status: Int, text: String) {
    INVALID_USER(
        400,
        "expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), and nothing else",
    ),
    NOT_FOUND(404, "not found"),
    METHOD_NOT_ALLOWED(405, "method not allowed"),
    REQUEST_TIMEOUT(408, "the request took too long"),
    BODY_TOO_LARGE(413, "the body is over 64 KB"),
    WRONG_CONTENT_TYPE(415, "the content type must be application/json"),
    INTERNAL_ERROR(500, "internal error"),
    DATABASE_AWAY(503, "the database is unavailable"),
    ;

    val body = "{\"error\":\"$text\"}".toByteArray()
}

/** The routes, and what they answer. */
class Http(private val store: Store, private val config: Config) {
    fun handle(request: HttpServerRequest, response: HttpServerResponse): Mono<Void> =
        when (request.uri().substringBefore('?')) {
            "/api" -> withUser(request, response, store::passThrough)
            "/echo" -> withUser(request, response) { Mono.just(UserRow(0, it.name, it.email, it.age)) }
            "/ping" -> ping(request, response)
            else -> answer(response, Fixed.NOT_FOUND)
        }

    /** Hands on the user in the body and answers its row; turns away requests that hold none. */
    private fun withUser(
        request: HttpServerRequest,
        response: HttpServerResponse,
        next: (NewUser) -> Mono<UserRow>,
    ): Mono<Void> {
        if (request.method() != HttpMethod.POST) return notAllowed(response, "POST")
        if (!isJson(request)) return answer(response, Fixed.WRONG_CONTENT_TYPE)
        return bodyOf(request)
            .timeout(config.readTimeout)
            .flatMap { body ->
                val user = Users.read(body) ?: return@flatMap answer(response, Fixed.INVALID_USER)
                next(user)
                    .flatMap { row -> send(response, 200, JSON, Users.write(row)) }
                    .onErrorResume { failure -> answer(response, fixedFor(failure)) }
            }.onErrorResume(BodyTooLarge::class.java) { answer(response, Fixed.BODY_TOO_LARGE) }
            .onErrorResume(TimeoutException::class.java) { answer(response, Fixed.REQUEST_TIMEOUT) }
    }

    private fun fixedFor(failure: Throwable): Fixed {
        if (isAway(failure)) return Fixed.DATABASE_AWAY
        log.log(Level.ERROR, "statement failed", failure)
        return Fixed.INTERNAL_ERROR
    }

    private fun ping(request: HttpServerRequest, response: HttpServerResponse): Mono<Void> =
        when (request.method()) {
            HttpMethod.GET, HttpMethod.HEAD -> send(response, 200, "text/plain; charset=utf-8", PONG)
            else -> notAllowed(response, "GET, HEAD")
        }

    private fun notAllowed(response: HttpServerResponse, allowed: String): Mono<Void> {
        response.header(HttpHeaderNames.ALLOW, allowed)
        return answer(response, Fixed.METHOD_NOT_ALLOWED)
    }

    private companion object {
        val PONG = "pong".toByteArray()
    }
}

private class BodyTooLarge : RuntimeException(null, null, false, false)

/** The whole body, or the error BodyTooLarge as soon as it is known to be too large. */
private fun bodyOf(request: HttpServerRequest): Mono<ByteArray> {
    val declared = request.requestHeaders().get(HttpHeaderNames.CONTENT_LENGTH)?.toLongOrNull() ?: 0
    if (declared > MAX_BODY) return Mono.error(BodyTooLarge())
    return request.receive().asByteArray().reduceWith({ ByteArray(0) }) { sofar, chunk ->
        if (sofar.size + chunk.size > MAX_BODY) throw BodyTooLarge()
        if (sofar.isEmpty()) chunk else sofar + chunk
    }
}

private fun isJson(request: HttpServerRequest): Boolean {
    val contentType = request.requestHeaders().get(HttpHeaderNames.CONTENT_TYPE) ?: return false
    return contentType.substringBefore(';').trim().equals(JSON, ignoreCase = true)
}

private fun answer(response: HttpServerResponse, fixed: Fixed): Mono<Void> =
    send(response, fixed.status, JSON, fixed.body)

private fun send(response: HttpServerResponse, status: Int, contentType: String, body: ByteArray): Mono<Void> =
    response
        .status(status)
        .header(HttpHeaderNames.CONTENT_TYPE, contentType)
        .header(HttpHeaderNames.CONTENT_LENGTH, body.size.toString())
        .header(HttpHeaderNames.DATE, HttpDate.now())
        .sendObject(Unpooled.wrappedBuffer(body))
        .then()
