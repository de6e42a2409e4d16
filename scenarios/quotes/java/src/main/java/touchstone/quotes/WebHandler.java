package touchstone.quotes;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** JSON and server-sent events, of all connections of HTTP/1.1 and streams of HTTP/2. */
@Sharable
final class WebHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    var url = new QueryStringDecoder(request.uri());
    String[] parts = url.path().split("/", -1);
    boolean known =
        !request.decoderResult().isFailure()
            && parts.length >= 3
            && parts[1].equals("quotes")
            && Quotes.isSymbol(parts[2]);
    boolean streams = parts.length == 4 && parts[3].equals("events");
    if (!known || parts.length > 3 && !streams) {
      send(context, request, empty(HttpResponseStatus.NOT_FOUND));
    } else if (!HttpMethod.GET.equals(request.method()) && !HttpMethod.HEAD.equals(request.method())) {
      FullHttpResponse response = empty(HttpResponseStatus.METHOD_NOT_ALLOWED);
      response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
      send(context, request, response);
    } else if (streams) {
      stream(context, request, url, parts[2]);
    } else {
      var body = Unpooled.copiedBuffer(Quotes.json(Quotes.quote(parts[2], 1)), StandardCharsets.US_ASCII);
      var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      response.headers().set(HttpHeaderNames.CONTENT_TYPE, "application/json");
      send(context, request, response);
    }
  }

  private static void stream(
      ChannelHandlerContext context, FullHttpRequest request, QueryStringDecoder url, String symbol) {
    int count = number(url, "count", 1);
    int interval = number(url, "interval_ms", 0);
    if (!Quotes.fits(count, interval)) {
      send(context, request, empty(HttpResponseStatus.BAD_REQUEST));
      return;
    }
    var response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream");
    response.headers().set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    HttpUtil.setTransferEncodingChunked(response, true);
    Channel channel = context.channel();
    // A request behind this one waits for the end of the stream.
    channel.config().setAutoRead(false);
    channel.writeAndFlush(response);
    Thread.ofVirtual().start(() -> events(channel, symbol, count, interval));
  }

  private static void events(Channel channel, String symbol, int count, int interval) {
    try {
      Quotes.each(
          symbol,
          count,
          interval,
          quote -> {
            String text = "id: " + quote.getNumber() + "\ndata: " + Quotes.json(quote) + "\n\n";
            var content = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
            return channel.writeAndFlush(new DefaultHttpContent(content)).await().isSuccess();
          });
      channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
      channel.config().setAutoRead(true);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static int number(QueryStringDecoder url, String name, int unset) {
    String text = url.parameters().getOrDefault(name, List.of("")).getFirst();
    if (text.isEmpty()) {
      return unset;
    }
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException wrong) {
      return -1;
    }
  }

  private static FullHttpResponse empty(HttpResponseStatus status) {
    return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.EMPTY_BUFFER);
  }

  private static void send(
      ChannelHandlerContext context, FullHttpRequest request, FullHttpResponse response) {
    HttpUtil.setContentLength(response, response.content().readableBytes());
    if (HttpMethod.HEAD.equals(request.method())) {
      response.content().clear();
    }
    context.writeAndFlush(response);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
