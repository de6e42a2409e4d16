package users

import app.cash.sqldelight.driver.jdbc.asJdbcDriver
import com.zaxxer.hikari.HikariConfig
import com.zaxxer.hikari.HikariDataSource
import org.sqlite.SQLiteConfig
import org.sqlite.SQLiteDataSource
import org.sqlite.SQLiteErrorCode.SQLITE_CONSTRAINT_UNIQUE
import org.sqlite.SQLiteException
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** The users, in SQLite. Safe for use by many threads. */
class Store(config: DatabaseConfig) : AutoCloseable {
    private val pool = HikariDataSource(
        HikariConfig().apply {
            dataSource = sqlite(config)
            maximumPoolSize = config.pool
            connectionTimeout = config.busyTimeout.inWholeMilliseconds
        },
    )
    private val users = pool.asJdbcDriver().let { driver ->
        Database.Schema.create(driver)
        Database(driver).usersQueries
    }

    // SQLite has one writer at a time. Waiting here is fair and ends at once;
    // waiting in SQLite's busy handler is a sleep that others overtake.
    private val writing = ReentrantLock()

    /** Registers a name; false if it is taken. */
    fun add(name: String): Boolean = try {
        writing.withLock { users.insert(name) }
        true
    } catch (e: SQLiteException) {
        if (e.resultCode != SQLITE_CONSTRAINT_UNIQUE) throw e
        false
    }

    /** The registered name, or null if there is none. */
    fun find(name: String): String? = users.find(name).executeAsOneOrNull()?.name

    override fun close() = pool.close()
}

private fun sqlite(config: DatabaseConfig): SQLiteDataSource {
    val pragmas = SQLiteConfig().apply {
        setBusyTimeout(config.busyTimeout.inWholeMilliseconds.toInt())
        setJournalMode(SQLiteConfig.JournalMode.WAL)
        setSynchronous(SQLiteConfig.SynchronousMode.NORMAL)
    }
    return SQLiteDataSource(pragmas).apply { url = "jdbc:sqlite:${config.path.toAbsolutePath().toUri()}" }
}
