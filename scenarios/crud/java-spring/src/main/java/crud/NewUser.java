package crud;

import java.nio.charset.StandardCharsets;

/** A user as a client sends it, valid: a body of another kind makes none. */
record NewUser(String name, String email, Integer age) {
    private static final int MAX_AGE = 150;

    NewUser {
        if (!isText(name) || !isText(email) || age == null || age < 0 || age > MAX_AGE) {
            throw new IllegalArgumentException("no valid user");
        }
    }

    /** Neither half a surrogate pair nor NUL, which PostgreSQL's text cannot hold. */
    private static boolean isText(String value) {
        return value != null
                && value.indexOf('\0') < 0
                && StandardCharsets.UTF_8.newEncoder().canEncode(value);
    }
}
