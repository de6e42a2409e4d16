import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.TimeUnit;

/** Vert.x with one server. */
final class VertxServer {
    public static void main(String[] args) {
        Vertx vertx = Vertx.vertx();
        vertx.createHttpServer()
            .requestHandler(request -> {
                switch (request.path()) {
                    case "/hello" -> hello(request);
                    case "/slow" -> vertx.setTimer(1000, timer -> hello(request));
                    default -> request.response().setStatusCode(404).end();
                }
            })
            .listen(Address.PORT, Address.HOST);
        Address.onStop(() -> vertx.close().toCompletionStage().toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join());
    }

    private static void hello(HttpServerRequest request) {
        request.response().putHeader("content-type", "text/plain").end(Address.HELLO);
    }
}
