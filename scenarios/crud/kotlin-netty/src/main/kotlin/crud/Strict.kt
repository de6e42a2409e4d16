package crud

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException

internal val WHITESPACE = setOf(' '.code.toByte(), '\t'.code.toByte(), '\n'.code.toByte(), '\r'.code.toByte())

private val DIGITS = '0'.code.toByte()..'9'.code.toByte()

/** What dsl-json lets pass and RFC 8259 does not: bytes that are no UTF-8, and control characters within a string. */
internal fun isStrictText(body: ByteArray): Boolean {
    var quoted = false
    var escaped = false
    var ascii = true
    for (byte in body) {
        if (byte < 0) ascii = false
        if (quoted && byte in 0..0x1F) return false
        when {
            escaped -> escaped = false
            quoted && byte == '\\'.code.toByte() -> escaped = true
            byte == '"'.code.toByte() -> quoted = !quoted
        }
    }
    return ascii || isUtf8(body)
}

/** Whether one to three digits stand there and no fraction or exponent follows: dsl-json takes 1e1, and lets 2^32 + 1 wrap. */
internal fun isShortInteger(
    body: ByteArray,
    start: Int,
): Boolean {
    var end = start
    while (end < body.size && body[end] in DIGITS) end++
    return end - start in 1..3 && (end == body.size || body[end].toInt().toChar() !in ".eE")
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair. */
internal fun isStorable(text: String): Boolean {
    var index = 0
    while (index < text.length) {
        val char = text[index++]
        if (char == '\u0000' || char.isLowSurrogate()) return false
        if (char.isHighSurrogate() && (index == text.length || !text[index++].isLowSurrogate())) return false
    }
    return true
}

private fun isUtf8(body: ByteArray): Boolean =
    try {
        Charsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body))
        true
    } catch (_: CharacterCodingException) {
        false
    }
