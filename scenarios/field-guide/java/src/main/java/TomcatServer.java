import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.File;
import java.io.IOException;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;

/** Tomcat, embedded. */
final class TomcatServer extends HttpServlet {
    public static void main(String[] args) throws LifecycleException {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(new File(System.getProperty("java.io.tmpdir")).getPath());
        tomcat.setHostname("localhost");
        tomcat.setPort(Address.PORT);
        tomcat.getConnector().setProperty("address", Address.HOST);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "hello", new TomcatServer());
        context.addServletMappingDecoded("/hello", "hello");
        context.addServletMappingDecoded("/slow", "hello");
        tomcat.start();
        Address.onStop(() -> {
            try {
                tomcat.stop();
            } catch (LifecycleException broken) {
                throw new IllegalStateException(broken);
            }
        });
        tomcat.getServer().await();
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getServletPath().equals("/slow")) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        response.setContentType("text/plain");
        response.getOutputStream().write(Address.HELLO.getBytes());
    }
}
