package touchstone.hello;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The handlers of one connection. */
final class Pipeline extends ChannelInitializer<SocketChannel> {
  private final Config config;
  private final HelloHandler handler;
  private final ChannelGroup open;

  Pipeline(Config config, HelloHandler handler, ChannelGroup open) {
    this.config = config;
    this.handler = handler;
    this.open = open;
  }

  @Override
  protected void initChannel(SocketChannel channel) {
    open.add(channel);
    ChannelPipeline pipeline = channel.pipeline();
    pipeline
        .addLast(new IdleStateHandler(0, 0, config.idleTimeout(), TimeUnit.MILLISECONDS))
        .addLast(new WriteTimeoutHandler(config.writeTimeout(), TimeUnit.MILLISECONDS))
        .addLast(new RequestTimeoutHandler(config.requestTimeout()));
    if (config.tls() == null) {
      pipeline.addLast(new Preface());
    } else {
      pipeline.addLast(config.tls().newHandler(channel.alloc())).addLast(new Agreed());
    }
  }

  private void speakHttp1(ChannelPipeline pipeline) {
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new HttpServerKeepAliveHandler())
        .addLast(handler);
  }

  private void speakHttp2(ChannelPipeline pipeline) {
    pipeline
        .addLast(Http2FrameCodecBuilder.forServer().build())
        .addLast(new Http2MultiplexHandler(new Stream()))
        .addLast(new Ending());
  }

  /** Whether a connection without a request ends with the event. */
  private static boolean ends(Object event) {
    return event instanceof IdleStateEvent || event == HelloHandler.Drain.INSTANCE;
  }

  /** Over TLS the protocol is agreed on by ALPN. */
  private final class Agreed extends ApplicationProtocolNegotiationHandler {
    private Agreed() {
      super(ApplicationProtocolNames.HTTP_1_1);
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext context, String protocol) {
      if (ApplicationProtocolNames.HTTP_2.equals(protocol)) {
        speakHttp2(context.pipeline());
      } else {
        speakHttp1(context.pipeline());
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
      if (ends(event)) {
        context.close();
        return;
      }
      super.userEventTriggered(context, event);
    }
  }

  /** Without TLS a client of HTTP/2 begins with its preface (RFC 9113, section 3.3). */
  private final class Preface extends ByteToMessageDecoder {
    private static final String BEGINNING = "PRI";

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      int length = Math.min(BEGINNING.length(), in.readableBytes());
      String begun = in.toString(in.readerIndex(), length, StandardCharsets.US_ASCII);
      if (begun.equals(BEGINNING)) {
        speakHttp2(context.pipeline());
        context.pipeline().remove(this);
      } else if (!BEGINNING.startsWith(begun)) {
        speakHttp1(context.pipeline());
        context.pipeline().remove(this);
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
      if (ends(event)) {
        context.close();
        return;
      }
      super.userEventTriggered(context, event);
    }
  }

  /** The handlers of one stream of HTTP/2. */
  private final class Stream extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel stream) {
      stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true)).addLast(handler);
    }
  }

  /** Ends a connection of HTTP/2 that is idle, or when the server is told to stop: with GOAWAY. */
  private static final class Ending extends ChannelInboundHandlerAdapter {
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (ends(event)) {
        context.close();
      }
    }
  }
}
