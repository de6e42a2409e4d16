import java.net.InetSocketAddress;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.Callback;

/** Jetty with the graceful stop that its documentation shows. */
final class JettyServer {
    public static void main(String[] args) throws Exception {
        Server server = new Server(new InetSocketAddress(Address.HOST, Address.PORT));
        server.setHandler(new GracefulHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                String path = Request.getPathInContext(request);
                if (path.equals("/slow")) {
                    Thread.sleep(1000);
                } else if (!path.equals("/hello")) {
                    return false;
                }
                response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain");
                Content.Sink.write(response, true, Address.HELLO, callback);
                return true;
            }
        }));
        server.setStopAtShutdown(true);
        server.setStopTimeout(30_000);
        server.start();
    }
}
