package crud

import com.dslplatform.json.DslJson
import com.dslplatform.json.JsonReader
import com.dslplatform.json.JsonWriter
import com.dslplatform.json.NumberConverter
import java.io.IOException

private const val MAX_AGE = 150

/** A user as a client sends it, valid. */
class NewUser(val name: String, val email: String, val age: Int)

/** A user as the database holds it. */
class UserRow(val id: Int, val name: String, val email: String, val age: Int)

/** Reads and writes users as JSON; a reader and a writer a thread, as dsl-json is meant to be used. */
object Users {
    private val library = DslJson<Any>()
    private val readers: ThreadLocal<JsonReader<Any>> = ThreadLocal.withInitial(library::newReader)
    private val writers: ThreadLocal<JsonWriter> = ThreadLocal.withInitial { library.newWriter(512) }

    /** The user in a body; null if it is no JSON object with just these fields and allowed values. */
    fun read(body: ByteArray): NewUser? {
        if (!isStrictText(body)) return null
        val reader = readers.get().process(body, body.size)
        return try {
            readObject(reader, body)
        } catch (_: IOException) {
            null
        }
    }

    fun write(row: UserRow): ByteArray {
        val writer = writers.get()
        writer.reset()
        writer.writeAscii("{\"id\":")
        NumberConverter.serialize(row.id, writer)
        writer.writeAscii(",\"name\":")
        writer.writeString(row.name)
        writer.writeAscii(",\"email\":")
        writer.writeString(row.email)
        writer.writeAscii(",\"age\":")
        NumberConverter.serialize(row.age, writer)
        writer.writeByte(JsonWriter.OBJECT_END)
        return writer.toByteArray()
    }

    private fun readObject(
        reader: JsonReader<Any>,
        body: ByteArray,
    ): NewUser? {
        if (reader.nextToken != '{'.code.toByte()) return null
        var name: String? = null
        var email: String? = null
        var age: Int? = null
        do {
            if (reader.nextToken != '"'.code.toByte()) return null
            val field = reader.readString()
            if (reader.nextToken != ':'.code.toByte()) return null
            val isText = reader.nextToken == '"'.code.toByte()
            when {
                field == "name" && name == null && isText -> name = reader.readString()
                field == "email" && email == null && isText -> email = reader.readString()
                field == "age" && age == null && isShortInteger(body, reader.currentIndex - 1) ->
                    age = NumberConverter.deserializeInt(reader)
                else -> return null
            }
        } while (reader.nextToken == ','.code.toByte())
        if (reader.last() != '}'.code.toByte() || !isAtEnd(reader)) return null
        if (name == null || email == null || age == null || age !in 0..MAX_AGE) return null
        return if (isStorable(name) && isStorable(email)) NewUser(name, email, age) else null
    }

    private fun isAtEnd(reader: JsonReader<Any>): Boolean {
        while (reader.currentIndex < reader.length()) {
            if (reader.read() !in WHITESPACE) return false
        }
        return true
    }
}
