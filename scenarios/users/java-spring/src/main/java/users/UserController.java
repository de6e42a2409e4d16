package users;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP side. Spring answers HEAD wherever it answers GET. */
@RestController
class UserController {
    private static final Logger log = LoggerFactory.getLogger(UserController.class);

    private final UserRepository users;

    UserController(UserRepository users) {
        this.users = users;
    }

    @GetMapping("/ping")
    ResponseEntity<String> ping() {
        return Answers.text(HttpStatus.OK, "pong");
    }

    @GetMapping("/add")
    ResponseEntity<String> register(@RequestParam(defaultValue = "") String name) {
        if (name.isEmpty()) {
            return Answers.nameRequired();
        }
        return added(name)
                ? Answers.text(HttpStatus.OK, "Welcome to our community " + name + "!")
                : Answers.text(HttpStatus.INTERNAL_SERVER_ERROR, "Sadly we failed to register you: " + name);
    }

    @GetMapping("/")
    ResponseEntity<String> find(@RequestParam(defaultValue = "") String name) {
        if (name.isEmpty()) {
            return Answers.nameRequired();
        }
        return users.find(name)
                .map(found -> Answers.text(HttpStatus.OK, "Boom! We found you: " + found))
                .orElseGet(() -> Answers.text(HttpStatus.NOT_FOUND, "Sadly we could not find you: " + name));
    }

    private boolean added(String name) {
        try {
            return users.add(name);
        } catch (DataAccessException e) {
            log.error("insert failed", e);
            return false;
        }
    }
}
