package crud;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The users, in PostgreSQL. */
@Repository
class UserRepository {
    private static final String INSERT = "INSERT INTO users (name, email, age) VALUES (?, ?, ?) RETURNING id";
    private static final String SELECT = "SELECT id, name, email, age FROM users WHERE id = ?";
    private static final String DELETE = "DELETE FROM users WHERE id = ?";

    private final JdbcClient database;

    UserRepository(JdbcClient database) {
        this.database = database;
    }

    /**
     * Inserts the user, reads it back and deletes it. The scope makes it one session; without a transaction each
     * statement commits by itself.
     */
    @Transactional(propagation = Propagation.SUPPORTS)
    UserRow passThrough(NewUser user) {
        int id = database.sql(INSERT)
                .params(user.name(), user.email(), user.age())
                .query(Integer.class)
                .single();
        UserRow row = database.sql(SELECT).param(id).query(UserRow.class).single();
        database.sql(DELETE).param(id).update();
        return row;
    }
}
