package users;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** The users, in SQLite. Safe for use by many threads. */
@Repository
class UserRepository {
    private final JdbcClient database;

    // SQLite has one writer at a time. Waiting here is fair and ends at once; waiting in SQLite's busy handler is a
    // sleep that others overtake.
    private final ReentrantLock writing = new ReentrantLock();

    UserRepository(JdbcClient database) {
        this.database = database;
    }

    /** Registers a name; false if it is taken. */
    boolean add(String name) {
        writing.lock();
        try {
            database.sql("INSERT INTO users(name) VALUES (?)").param(name).update();
            return true;
        } catch (DataAccessException e) {
            if (isTaken(e.getMostSpecificCause())) {
                return false;
            }
            throw e;
        } finally {
            writing.unlock();
        }
    }

    /** The registered name, if there is one. */
    Optional<String> find(String name) {
        return database.sql("SELECT name FROM users WHERE name = ?")
                .param(name)
                .query(String.class)
                .optional();
    }

    private static boolean isTaken(Throwable cause) {
        return cause instanceof SQLiteException e && e.getResultCode() == SQLiteErrorCode.SQLITE_CONSTRAINT_UNIQUE;
    }
}
