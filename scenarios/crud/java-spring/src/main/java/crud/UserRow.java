package crud;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;

/** A user as the database holds it. */
@JsonPropertyOrder({"id", "name", "email", "age"})
record UserRow(int id, String name, String email, int age) {}
