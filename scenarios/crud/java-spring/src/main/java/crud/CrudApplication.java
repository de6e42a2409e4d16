package crud;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Stores a user in PostgreSQL, reads it back, deletes it and answers what it read. */
@SpringBootApplication(proxyBeanMethods = false)
public class CrudApplication {
    public static void main(String[] args) {
        SpringApplication.run(CrudApplication.class, args);
    }
}
