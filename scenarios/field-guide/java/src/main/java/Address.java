/** Where a server listens, from the environment, and the body of its responses. */
final class Address {
    static final String HOST = System.getenv("HOST");
    static final int PORT = Integer.parseInt(System.getenv("PORT"));
    static final String HELLO = "Hello, world!";

    private Address() {}

    /** Runs a stop on SIGTERM. */
    static void onStop(Runnable stop) {
        Runtime.getRuntime().addShutdownHook(new Thread(stop));
    }
}
