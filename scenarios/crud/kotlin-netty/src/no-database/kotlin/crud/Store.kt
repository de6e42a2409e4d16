package crud

import reactor.core.publisher.Mono
import java.util.concurrent.atomic.AtomicInteger

/** The defect: a user is given an id and forgotten. What is left is HTTP and JSON, without a driver. */
class Store(@Suppress("UNUSED_PARAMETER") config: Config) {
    private val ids = AtomicInteger()

    fun passThrough(user: NewUser): Mono<UserRow> =
        Mono.fromSupplier { UserRow(ids.incrementAndGet(), user.name, user.email, user.age) }

    fun close() = Unit
}

fun isAway(@Suppress("UNUSED_PARAMETER") failure: Throwable): Boolean = false
