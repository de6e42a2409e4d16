package crud

import java.time.Instant
import java.time.ZoneOffset
import java.time.format.DateTimeFormatter

/** The Date field (RFC 9110, section 6.6.1), which Reactor Netty leaves to the service; written once a second. */
object HttpDate {
    private class Second(val number: Long, val text: String)

    @Volatile
    private var last = Second(0, "")

    fun now(): String {
        val second = System.currentTimeMillis() / 1000
        if (last.number != second) {
            val time = Instant.ofEpochSecond(second).atOffset(ZoneOffset.UTC)
            last = Second(second, DateTimeFormatter.RFC_1123_DATE_TIME.format(time).replace("+0000", "GMT"))
        }
        return last.text
    }
}
