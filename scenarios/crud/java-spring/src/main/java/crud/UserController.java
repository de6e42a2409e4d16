package crud;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP side: {@code /api} through the database, {@code /echo} past it. */
@RestController
class UserController {
    private static final String JSON = MediaType.APPLICATION_JSON_VALUE;

    private final UserRepository users;

    UserController(UserRepository users) {
        this.users = users;
    }

    @PostMapping(path = "/api", consumes = JSON, produces = JSON)
    UserRow api(@RequestBody NewUser user) {
        return users.passThrough(user);
    }

    @PostMapping(path = "/echo", consumes = JSON, produces = JSON)
    UserRow echo(@RequestBody NewUser user) {
        return new UserRow(0, user.name(), user.email(), user.age());
    }

    @GetMapping(path = "/ping", produces = "text/plain;charset=UTF-8")
    String ping() {
        return "pong";
    }
}
