package users

import com.squareup.sqldelight.sqlite.driver.JdbcSqliteDriver
import org.sqlite.SQLiteConfig
import org.sqlite.SQLiteErrorCode.SQLITE_CONSTRAINT_UNIQUE
import org.sqlite.SQLiteException
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** The users, through SQLDelight's own driver, which opens connections as it sees fit: there is no pool. */
class Store(config: DatabaseConfig) : AutoCloseable {
    private val driver = JdbcSqliteDriver(
        "jdbc:sqlite:${config.path.toAbsolutePath().toUri()}",
        SQLiteConfig().apply {
            setBusyTimeout(config.busyTimeout.inWholeMilliseconds.toInt())
            setJournalMode(SQLiteConfig.JournalMode.WAL)
            setSynchronous(SQLiteConfig.SynchronousMode.NORMAL)
        }.toProperties(),
    )
    private val writing = ReentrantLock()

    init {
        driver.execute(
            null,
            "CREATE TABLE IF NOT EXISTS users(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, UNIQUE(name))",
            0,
        )
    }

    /** Registers a name; false if it is taken. */
    fun add(name: String): Boolean = try {
        writing.withLock {
            driver.execute(INSERT, "INSERT INTO users(name) VALUES (?)", 1) { bindString(1, name) }
        }
        true
    } catch (e: SQLiteException) {
        if (e.resultCode != SQLITE_CONSTRAINT_UNIQUE) throw e
        false
    }

    /** The registered name, or null if there is none; what generated code of SQLDelight 1 does for such a query. */
    fun find(name: String): String? =
        driver.executeQuery(FIND, "SELECT name FROM users WHERE name = ?", 1) { bindString(1, name) }
            .use { if (it.next()) it.getString(0) else null }

    override fun close() = driver.close()

    private companion object {
        const val INSERT = 1
        const val FIND = 2
    }
}
