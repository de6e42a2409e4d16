package touchstone.hello;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Answers the requests of all connections. */
@Sharable
final class HelloHandler extends SimpleChannelInboundHandler<HttpObject> {
  /** Fired into each pipeline when the server is told to stop. */
  enum Drain {
    INSTANCE
  }

  private static final ByteBuf BODY =
      Unpooled.unreleasableBuffer(
          Unpooled.directBuffer().writeBytes("Hello, world!".getBytes(StandardCharsets.US_ASCII)));
  private static final DateTimeFormatter IMF_FIXDATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final AttributeKey<HttpRequest> REQUEST = AttributeKey.valueOf("request");

  private record Date(long second, String text) {}

  private volatile Date date = new Date(-1, "");
  private volatile boolean draining;

  void drain() {
    draining = true;
  }

  // The response waits for the end of the content, so that content is always consumed.
  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
    Channel channel = context.channel();
    if (message instanceof HttpRequest request) {
      if (HttpUtil.is100ContinueExpected(request)) {
        context.writeAndFlush(
            new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
      }
      channel.attr(REQUEST).set(request);
    }
    if (message instanceof LastHttpContent) {
      HttpRequest request = channel.attr(REQUEST).getAndSet(null);
      if (request != null) {
        answer(context, request);
      }
    }
  }

  private void answer(ChannelHandlerContext context, HttpRequest request) {
    FullHttpResponse response = respond(request);
    response.headers().set(HttpHeaderNames.DATE, now());
    HttpUtil.setContentLength(response, response.content().readableBytes());
    boolean last = draining || request.decoderResult().isFailure();
    if (last) {
      response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }
    if (HttpMethod.HEAD.equals(request.method())) {
      response.content().clear();
    }
    var written = context.write(response);
    if (last) {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private static FullHttpResponse respond(HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return empty(HttpResponseStatus.BAD_REQUEST);
    }
    if (!path(request.uri()).equals("/hello")) {
      return empty(HttpResponseStatus.NOT_FOUND);
    }
    if (!HttpMethod.GET.equals(request.method()) && !HttpMethod.HEAD.equals(request.method())) {
      FullHttpResponse response = empty(HttpResponseStatus.METHOD_NOT_ALLOWED);
      response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
      return response;
    }
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, BODY.retainedDuplicate());
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN);
    return response;
  }

  private static FullHttpResponse empty(HttpResponseStatus status) {
    return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.EMPTY_BUFFER);
  }

  private static String path(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  private String now() {
    long second = System.currentTimeMillis() / 1000;
    Date current = date;
    if (current.second() != second) {
      current = new Date(second, IMF_FIXDATE.format(Instant.ofEpochSecond(second)));
      date = current;
    }
    return current.text();
  }

  // Responses to pipelined requests go out together.
  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    boolean idle = context.channel().attr(REQUEST).get() == null;
    if (event instanceof IdleStateEvent || (event == Drain.INSTANCE && idle)) {
      context.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }
}
