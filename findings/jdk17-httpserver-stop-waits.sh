#!/usr/bin/env bash
# JDK 17: HttpServer.stop(3) takes three seconds with nothing in flight; JDK 25 returns at once
#
# The documentation says "at most". A measurement of how fast a service ends measures that argument.
source "$(dirname "$0")/common"
old=$(jdk 17)
new=$(jdk 25)
cat > Stop.java <<'JAVA'
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
public class Stop {
    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.start();
        long begin = System.nanoTime();
        server.stop(3);
        System.out.println(Math.round((System.nanoTime() - begin) / 1e9) + " s");
    }
}
JAVA
"$old/javac" Stop.java
compare "JDK 17: 3 s, JDK 25: 0 s" "JDK 17: $("$old/java" Stop), JDK 25: $("$new/java" Stop)"
