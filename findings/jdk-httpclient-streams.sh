#!/usr/bin/env bash
# JDK 17 and 25 HttpClient over HTTP/2: requests beyond the server's limit of streams fail with an IOException, and do not wait
#
# Fifty requests are made at once, on a connection that is known to allow ten streams: most end with "too many concurrent streams".
# The client opens no second connection. httpx 0.28.1 has its requests wait, and all fifty succeed.
source "$(dirname "$0")/common"
node_with node@26.10.0
python_with "httpx[http2]==0.28.1"
ten_streams_server
cat > Client.java <<'JAVA'
import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.concurrent.CompletableFuture;
import java.util.stream.*;
import javax.net.ssl.*;
public class Client {
    public static void main(String[] args) throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null);
        try (var file = new FileInputStream("cert.pem")) {
            store.setCertificateEntry("server", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        var client = HttpClient.newBuilder().sslContext(context).build();
        var request = HttpRequest.newBuilder(URI.create(args[0])).build();
        client.send(request, HttpResponse.BodyHandlers.ofString());
        var ends = IntStream.range(0, 50).mapToObj(i -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
            .handle((response, error) -> error == null ? "" + response.statusCode() : error.getCause().getMessage())).toList();
        var failed = ends.stream().map(CompletableFuture::join).filter(end -> !end.equals("200")).toList();
        System.out.println((failed.size() >= 25 ? "most" : failed.size() + " of 50") + " fail: " + failed.stream().distinct().toList());
        System.exit(0);
    }
}
JAVA
cat > client.py <<'PY'
import asyncio, ssl, sys
import httpx
async def main():
    trusted = ssl.create_default_context(cafile="cert.pem")
    async with httpx.AsyncClient(http2=True, verify=trusted, timeout=30) as client:
        ends = await asyncio.gather(*(client.get(sys.argv[1]) for _ in range(50)))
    print(f"{sum(end.status_code != 200 for end in ends)} of 50 fail")
asyncio.run(main())
PY
url=https://127.0.0.1:$port/ seen=
for version in 17 25; do
  java=$(jdk $version)
  seen+="JDK $version: $("$java/java" Client.java "$url"), "
done
seen+="httpx: $(env/bin/python client.py "$url")"
compare "JDK 17: most fail: [too many concurrent streams], JDK 25: most fail: [too many concurrent streams], httpx: 0 of 50 fail" "$seen"
